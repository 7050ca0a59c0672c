// The picked alarms: what can be done with all of them, and what came of each.
import { Button } from 'react-aria-components';
import { manyWords } from '../../../../build/words/many.ts';
import type { Alarm } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { codeText, Notice } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import { session } from '../../service/session.ts';
import { rightsOf } from '../../state/alarm-view.ts';
import { pickedMost } from '../../state/device-view.ts';
import type { ManyAlarms } from './use-many-alarms.ts';

interface ListProps {
  readonly many: ManyAlarms;
  /** Those that are shown. */
  readonly list: readonly Alarm[];
  readonly role: string;
}

/** What is offered for the picked alarms: each button counts those that it would change. */
export function PickedAlarms({ many, list, role }: ListProps) {
  const { many: texts, stream } = useWords(manyWords);
  const userID = useValue(session)?.userID ?? '';
  const failure = useFailure(many.opened === null ? many.failure : null);
  if (many.ids.size === 0 && failure === null) return null;
  const picked = list.filter(({ alarmID }) => many.ids.has(alarmID));
  const allowed = (right: 'canTake' | 'canAssign' | 'canClose'): readonly Alarm[] =>
    picked.filter((alarm) => rightsOf(alarm, userID, role)[right]);
  const [takable, assignable, closable] = [allowed('canTake'), allowed('canAssign'), allowed('canClose')];
  const isOff = many.isBusy || many.isDown;
  return (
    <div className="card-body stack">
      <div className="row wrap">
        <span role="status">{texts.picked({ count: many.ids.size, most: pickedMost })}</span>
        <Button
          className="button secondary small"
          onPress={() => many.pick(list.map(({ alarmID }) => alarmID))}
        >
          {texts.all}
        </Button>
        <Button className="button secondary small" onPress={() => many.pick([])}>
          {texts.none}
        </Button>
      </div>
      <div className="row wrap">
        <ActionButton
          className="button primary small"
          isOff={isOff || takable.length === 0}
          onPress={() => many.run({ action: 'take', alarms: takable })}
        >
          {texts.alarms.take({ count: takable.length })}
        </ActionButton>
        <ActionButton
          className="button secondary small"
          isOff={isOff || assignable.length === 0}
          aria-haspopup="dialog"
          onPress={() => many.open('assign', assignable)}
        >
          {texts.alarms.assignTitle({ count: assignable.length })}…
        </ActionButton>
        <ActionButton
          className="button secondary small"
          isOff={isOff || closable.length === 0}
          aria-haspopup="dialog"
          onPress={() => many.open('close', closable)}
        >
          {texts.alarms.close({ count: closable.length })}…
        </ActionButton>
        {many.isDown ? <span className="muted">{stream.commandsOff}</span> : null}
      </div>
      {failure}
    </div>
  );
}

export function ManyAlarmsResult({ many }: { readonly many: ManyAlarms }) {
  const words = useWords(manyWords);
  const { many: texts } = words;
  const { result } = many;
  if (result === null) return null;
  const { action, done, failed } = result;
  return (
    <section className="card-body stack" aria-label={texts.results}>
      {done === 0 ? null : (
        <Notice
          tone="ok"
          icon="circle-check"
          role="status"
          title={texts.alarms.done[action]({ count: done })}
        />
      )}
      {failed.length === 0 ? null : (
        <>
          <Notice
            tone="look"
            icon="triangle-alert"
            role="alert"
            title={texts.alarms.failed({ count: failed.length })}
          />
          <ul className="stack tight">
            {failed.map(({ alarm, why }) => (
              <li key={alarm.alarmID}>
                <strong>
                  {codeText(alarm.statusCode, words)} · <bdi>{alarm.deviceDisplayName}</bdi>
                </strong>{' '}
                <bdi>{why}</bdi>
              </li>
            ))}
          </ul>
        </>
      )}
      <div className="row">
        <Button className="button secondary small" onPress={many.forget}>
          {texts.dismiss}
        </Button>
      </div>
    </section>
  );
}
