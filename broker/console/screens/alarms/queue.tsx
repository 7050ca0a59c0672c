// The table of alarms: panic first, then new before taken, then the oldest first, by the clock of the service.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Alarm } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import type { HeldRow } from '../../components/rows/held-rows.ts';
import { Age, codeText, LongName, momentText, Time, timeText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { session } from '../../service/session.ts';
import { beganOf, rightsOf } from '../../state/alarm-view.ts';
import { AlarmBadge } from '../vehicle/badges.tsx';
import { AlarmPlace } from './place.tsx';
import type { Dialogs } from './use-alarm-changes.ts';
import type { ManyAlarms } from './use-many-alarms.ts';

interface RowProps {
  readonly alarm: Alarm;
  /** Why it is no longer in the list; null: it is. */
  readonly gone: string | null;
  readonly role: string;
  readonly isSelected: boolean;
  /** A detail is open: it is replaced, so that one step back leads to the list. */
  readonly isOpen: boolean;
  readonly dialogs: Dialogs;
  /** Null: none can be picked. */
  readonly many: ManyAlarms | null;
}

/** The box that picks an alarm; of the browser, for its library is larger than this screen. */
function PickAlarm({ alarm, many }: { readonly alarm: Alarm; readonly many: ManyAlarms }) {
  const words = useWords();
  const isPicked = many.ids.has(alarm.alarmID);
  return (
    <label className="radio check" {...(isPicked ? { 'data-selected': true } : {})}>
      <input
        type="checkbox"
        className="hidden"
        aria-label={words.alarms.pickOf({
          alarm: codeText(alarm.statusCode, words),
          vehicle: alarm.deviceDisplayName,
        })}
        checked={isPicked}
        onChange={() => many.toggle(alarm.alarmID)}
      />
      <span className="box">
        <Icon name="check" />
      </span>
    </label>
  );
}

function RowAction({ alarm, role, dialogs }: Pick<RowProps, 'alarm' | 'role' | 'dialogs'>) {
  const { alarms: texts } = useWords();
  const present = useValue(session);
  const rights = rightsOf(alarm, present?.userID ?? '', role);
  const tone = alarm.priority === 'low' ? 'button secondary small' : 'button take small';
  const isOff = dialogs.isBusy || dialogs.isDown;
  if (rights.canTake)
    return (
      <ActionButton className={tone} isOff={isOff} onPress={() => dialogs.take(alarm)}>
        {texts.take}
      </ActionButton>
    );
  if (rights.canUnshelve)
    return (
      <ActionButton className="button secondary small" isOff={isOff} onPress={() => dialogs.resume(alarm)}>
        {texts.resume}
      </ActionButton>
    );
  if (!rights.canClose) return null;
  return (
    <ActionButton
      className="button secondary small"
      isOff={isOff}
      aria-haspopup="dialog"
      onPress={() => dialogs.open('close', alarm)}
    >
      {texts.close}…
    </ActionButton>
  );
}

function Row({ alarm, gone, role, isSelected, isOpen, dialogs, many }: RowProps) {
  const words = useWords();
  const { alarms: texts } = words;
  const isFresh = alarm.alarmState === 'new';
  const began = beganOf(alarm);
  const tone = [
    isFresh ? 'fresh' : '',
    isFresh && alarm.priority === 'low' ? 'mild' : '',
    alarm.alarmState === 'closed' ? 'stale' : '',
    gone === null ? '' : 'gone',
  ];
  const detail =
    alarm.alarmState === 'shelved'
      ? `${texts.until({ time: momentText(alarm.shelvedUntil, 'hour') })}: ${alarm.note}`
      : alarm.alarmState === 'closed'
        ? `${(texts.reasons as Readonly<Record<string, string>>)[alarm.closeReason] ?? alarm.closeReason}${alarm.note === '' ? '' : `, ${alarm.note}`}`
        : alarm.note;
  return (
    <tr
      className={tone.join(' ').trim()}
      data-selected={isSelected}
      {...(gone === null ? {} : { inert: true, 'data-gone': gone })}
    >
      <td>
        <div className="row">
          {many === null ? null : <PickAlarm alarm={alarm} many={many} />}
          <div>
            <Link
              from="/alarms"
              to="/alarms"
              search={(before) => ({ ...before, alarm: alarm.alarmID })}
              className="plain-link"
              replace={isOpen}
            >
              <AlarmBadge alarm={alarm} />
            </Link>
            {alarm.count > 1 ? <span className="note">{texts.times({ count: alarm.count })}</span> : null}
          </div>
        </div>
      </td>
      <th scope="row">
        <Link className="own-colour" to="/vehicle/$deviceID" params={{ deviceID: alarm.deviceID }}>
          <LongName text={alarm.deviceDisplayName} />
        </Link>
      </th>
      <td data-label={texts.columns.where}>
        <AlarmPlace alarm={alarm} isShort />
      </td>
      <td data-label={texts.columns.received} className="nowrap">
        <Time at={alarm.opened} />{' '}
        <span className="faint">
          <Age at={alarm.opened} isBare />
        </span>
        {began === 'then' ? null : (
          <span className="note">{texts.began[began]({ time: timeText(alarm.firstTimestamp) })}</span>
        )}
      </td>
      <td data-label={texts.columns.state}>
        {texts.states[alarm.alarmState]}
        {detail === '' ? null : <span className="note">{detail}</span>}
      </td>
      <td data-label={texts.columns.owner} className="nowrap">
        {alarm.owner === '' ? <span className="muted">{words.common.none}</span> : alarm.owner}
      </td>
      <td className="num">
        <RowAction alarm={alarm} role={role} dialogs={dialogs} />
      </td>
    </tr>
  );
}

interface QueueProps {
  readonly rows: readonly HeldRow<Alarm>[];
  /** Over the head of the table. */
  readonly bar: ReactNode;
  goneOf(alarm: Alarm): string;
  readonly role: string;
  readonly selected: string | null;
  readonly dialogs: Dialogs;
  readonly many: ManyAlarms | null;
}

export function Queue({ rows, bar, goneOf, role, selected, dialogs, many }: QueueProps) {
  const { alarms: texts } = useWords();
  const { columns } = texts;
  return (
    <div className="scroll">
      {bar}
      <table className="table folds queue">
        <caption className="hidden">{texts.caption}</caption>
        <thead>
          <tr>
            {[
              columns.alarm,
              columns.vehicle,
              columns.where,
              columns.received,
              columns.state,
              columns.owner,
            ].map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
            <th scope="col">
              <span className="hidden">{columns.action}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ item: alarm, isGone }) => (
            <Row
              key={alarm.alarmID}
              alarm={alarm}
              gone={isGone ? goneOf(alarm) : null}
              role={role}
              isSelected={alarm.alarmID === selected}
              isOpen={selected !== null}
              dialogs={dialogs}
              many={many}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}
