// Restore: one press wherever a vehicle is open. It is never behind a dialog, and stays enabled without a stream. What became of it is what
// the ledger says; for a vehicle that is silent the service code stands beside it.
import { Button } from 'react-aria-components';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Notice, timeText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useCommand, useOrderChanges } from '../../service/orders.ts';
import { askRestore, type Restore, restores } from '../../service/restore.ts';
import { cutStateOf } from '../../state/cut-view.ts';
import { cutWords } from '../../words/cut/words.ts';
import { ServiceCode } from './service-code.tsx';

interface Restorable {
  readonly id: string;
  readonly name: string;
  /** False: the unit is not connected. Null: not known. */
  readonly isOnline: boolean | null;
}

function Asked({ vehicle, commandID }: { readonly vehicle: Restorable; readonly commandID: string }) {
  const words = useWords(cutWords);
  const { restore: texts } = words.cut;
  useOrderChanges(vehicle.id);
  const { data: record } = useCommand(commandID);
  if (record === undefined)
    return <Notice tone="busy" icon="hourglass" role="status" title={texts.asked(vehicle.name)} />;
  const state = cutStateOf(record.commandState);
  if (state === 'confirmed')
    return (
      <Notice
        tone="ok"
        icon="shield-check"
        role="status"
        title={texts.confirmed(vehicle.name, timeText(record.reported))}
      />
    );
  const text = state === 'approval' ? texts.states.requested : texts.states[state];
  return (
    <Notice
      tone={record.hasEnded || state === 'unknown' ? 'look' : 'busy'}
      icon={record.hasEnded || state === 'unknown' ? 'triangle-alert' : 'hourglass'}
      role="status"
      title={texts.asked(vehicle.name)}
    >
      {text}
    </Notice>
  );
}

function Outcome({ vehicle, restore }: { readonly vehicle: Restorable; readonly restore: Restore }) {
  const words = useWords(cutWords);
  if (restore.state === 'asking')
    return (
      <Notice tone="busy" icon="hourglass" role="status" title={words.cut.restore.asking(vehicle.name)} />
    );
  if (restore.state === 'asked') return <Asked vehicle={vehicle} commandID={restore.commandID} />;
  const { title, hint } = failureText(restore.error, words);
  return (
    <Notice tone="look" icon="triangle-alert" role="alert" title={`${words.vehicle.restoreFailed}: ${title}`}>
      {hint}
    </Notice>
  );
}

/** The button, and what became of the newest restore of this vehicle in this tab; null before the first. */
export function useRestore(vehicle: Restorable) {
  const words = useWords();
  const restore = useValue(restores).get(vehicle.id);
  const button = (
    <Button className="button restore" data-restore onPress={() => void askRestore(vehicle.id)}>
      <Icon name="power" />
      {words.vehicle.restore}
    </Button>
  );
  const isSilent = vehicle.isOnline === false || restore?.state === 'failed';
  const outcome =
    restore === undefined ? null : (
      <div className="stack">
        <Outcome vehicle={vehicle} restore={restore} />
        {isSilent ? (
          <div>
            <ServiceCode vehicle={vehicle} />
          </div>
        ) : null}
      </div>
    );
  return { button, outcome };
}
