// The order back to the safe state, one press wherever a vehicle is open: restore of the engine, lock of the cargo. It is never behind a dialog,
// and stays enabled without a stream. What became of it is what the ledger says; for a vehicle that is silent the service code, which restores
// the engine, stands beside a restore.
import { Suspense, useEffect } from 'react';
import { Button } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { lazyPart, useNow, useValue, useWords } from '../../components/use.ts';
import { ServiceError } from '../../service/call.ts';
import { askSafe, type SafeOrder, safeKey, safeOrders } from '../../service/orders/safe-orders.ts';
import { useCommand, useOrderChanges } from '../../service/orders.ts';
import { cutStateOf, type Relay } from '../../state/orders/cut-view.ts';
import { loadAhead, withWords } from '../../words/word-set.ts';
import { reportTime } from './order-times.ts';

/** Loaded with the button: it is needed when the vehicle or the service is silent. */
const loadServiceCode = (isAhead = false) => withWords(import('./service-code.tsx'), isAhead);
const ServiceCode = lazyPart(async () => (await loadServiceCode()).ServiceCode);

interface Subject {
  readonly id: string;
  readonly name: string;
  /** False: the unit is not connected. Null: not known. */
  readonly isOnline: boolean | null;
}

interface AskedProps {
  readonly relay: Relay;
  readonly vehicle: Subject;
  readonly commandID: string;
}

function Asked({ relay, vehicle, commandID }: AskedProps) {
  const words = useWords(cutWords);
  const { safe: texts } = words.orders[relay];
  useOrderChanges(vehicle.id);
  const { data: record } = useCommand(commandID);
  if (record === undefined)
    return (
      <Notice tone="busy" icon="hourglass" role="status" title={texts.asked({ vehicle: vehicle.name })} />
    );
  const state = cutStateOf(record.commandState);
  if (state === 'confirmed')
    return (
      <Notice
        tone="ok"
        icon="shield-check"
        role="status"
        title={texts.confirmed({ vehicle: vehicle.name, time: reportTime(record, words) })}
      />
    );
  const text = state === 'approval' ? texts.states.requested : texts.states[state];
  return (
    <Notice
      tone={record.hasEnded || state === 'unknown' ? 'look' : 'busy'}
      icon={record.hasEnded || state === 'unknown' ? 'triangle-alert' : 'hourglass'}
      role="status"
      title={texts.asked({ vehicle: vehicle.name })}
    >
      {text}
    </Notice>
  );
}

/** A request that takes longer is named as one without an answer, ms. */
const usualMs = 2000;

function Outcome({ vehicle, order }: { readonly vehicle: Subject; readonly order: SafeOrder }) {
  const words = useWords(cutWords);
  const { relay } = order;
  const { safe: texts } = words.orders[relay];
  // Judged anew each second.
  useNow();
  if (order.state === 'asked') return <Asked relay={relay} vehicle={vehicle} commandID={order.commandID} />;
  if (order.state === 'asking' && Date.now() - order.sentMs < usualMs)
    return (
      <Notice tone="busy" icon="hourglass" role="status" title={texts.asking({ vehicle: vehicle.name })} />
    );
  const isOpen =
    order.state === 'asking' || (order.error instanceof ServiceError && order.error.mayHaveActed);
  const { title, hint } = isOpen
    ? {
        title: `${texts.asked({ vehicle: vehicle.name })}. ${words.error.unanswered}`,
        hint: texts.pressAgain,
      }
    : failureText(order.error, words, words.relays[relay].safeFailed);
  return (
    <Notice tone="look" icon="triangle-alert" role="alert" title={title}>
      {hint}
    </Notice>
  );
}

const buttons = {
  // Shift+R goes to a restore, and to nothing else.
  enginecutoff: { icon: 'power', className: 'button restore', marks: { 'data-restore': true } },
  cargoaccess: { icon: 'lock', className: 'button secondary', marks: {} },
} as const;

/** The button, and what became of the newest such order for this vehicle in this tab; null before the first. */
export function useSafeOrder(relay: Relay, vehicle: Subject) {
  const { safe } = useWords().relays[relay];
  const subject = { deviceID: vehicle.id, relay };
  const order = useValue(safeOrders).get(safeKey(subject));
  useEffect(() => loadAhead(loadServiceCode), []);
  const { icon, className, marks } = buttons[relay];
  const button = (
    <Button className={className} {...marks} onPress={() => void askSafe(subject)}>
      <Icon name={icon} />
      {safe}
    </Button>
  );
  const isSilent = vehicle.isOnline === false || order?.state === 'failed' || order?.state === 'asking';
  const outcome =
    order === undefined ? null : (
      <div className="stack">
        <Outcome vehicle={vehicle} order={order} />
        {isSilent && relay === 'enginecutoff' ? (
          <div>
            <Suspense>
              <ServiceCode vehicle={vehicle} />
            </Suspense>
          </div>
        ) : null}
      </div>
    );
  return { button, outcome };
}
