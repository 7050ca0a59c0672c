// One alarm with all that was done with it.

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import type { Alarm, Result } from '../../api/operations.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Deliveries } from '../../components/deliveries.tsx';
import { failureText } from '../../components/failure.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Age, amountText, codeText, Empty, numberText, Time, timeText } from '../../components/texts.tsx';
import { lazyPart, useValue, useWords } from '../../components/use.ts';
import { FailureNotice, Known } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { session } from '../../service/session.ts';
import { beganOf, rightsOf } from '../../state/alarm-view.ts';
import { without } from '../../state/search.ts';
import { type Words, withWords } from '../../words/word-set.ts';
import { OpenOrder } from '../cut/open-order.tsx';
import { AlarmBadge } from '../vehicle/badges.tsx';
import { AlarmPlace } from './place.tsx';
import type { Dialogs } from './use-alarm-changes.ts';
import type { ManyAlarms } from './use-many-alarms.ts';

const CopyLink = lazyPart(
  async () => (await withWords(import('../../components/patterns/copy-link.tsx'))).CopyLink,
);

const NoteForm = lazyPart(async () => (await withWords(import('./note-form.tsx'))).NoteForm);

type Detail = Result<'getAlarm'>;

function Facts({ alarm, detail }: { readonly alarm: Alarm; readonly detail: Detail | undefined }) {
  const words = useWords();
  const { alarms: texts } = words;
  const vehicle = useValue(vehicles).get(alarm.deviceID);
  const ahead = detail?.nextEscalation ?? null;
  return (
    <dl className="pairs">
      <dt>{texts.vehicle}</dt>
      <dd>
        <Link to="/vehicle/$deviceID" params={{ deviceID: alarm.deviceID }}>
          {alarm.deviceDisplayName}
        </Link>
        {vehicle === undefined || vehicle.place === null ? null : (
          <>
            {' · '}
            {vehicle.speed === null ? null : (
              <>
                <bdi>{amountText(vehicle.speed, 'kmh', words, 1)}</bdi>{' '}
              </>
            )}
            <span className="age">
              <Age at={vehicle.fixS} />
            </span>
          </>
        )}
      </dd>
      <dt>{texts.where}</dt>
      <dd>
        <AlarmPlace alarm={alarm} />
      </dd>
      <dt>{texts.happened}</dt>
      <dd>
        <Time at={alarm.firstTimestamp} />
        {beganOf(alarm) === 'ahead' ? <span className="note">{texts.clockAhead}</span> : null}
      </dd>
      <dt>{texts.stored}</dt>
      <dd>
        <Time at={alarm.opened} />
      </dd>
      <dt>{texts.repeated}</dt>
      <dd>{numberText(alarm.count)}</dd>
      {ahead === null ? null : (
        <>
          <dt>{texts.escalates}</dt>
          <dd>
            {texts.escalation({
              time: timeText(ahead.at),
              to: ahead.userIDs.length === 0 ? ahead.ruleDisplayName : ahead.userIDs.join(', '),
            })}
          </dd>
        </>
      )}
    </dl>
  );
}

function CopyAlarm({ alarm: { alarmID, statusCode, deviceDisplayName } }: { readonly alarm: Alarm }) {
  const words = useWords();
  const what = words.alarms.details({ alarm: codeText(statusCode, words), vehicle: deviceDisplayName });
  return (
    <Suspense>
      <CopyLink to={{ to: '/alarms', search: { alarm: alarmID } }} what={what} />
    </Suspense>
  );
}

function Actions({
  alarm,
  role,
  dialogs,
  many,
}: {
  readonly alarm: Alarm;
  readonly role: string;
  readonly dialogs: Dialogs;
  readonly many: ManyAlarms;
}) {
  const words = useWords();
  const { alarms: texts, vehicle } = words;
  const present = useValue(session);
  const of = useValue(vehicles).get(alarm.deviceID);
  const rights = rightsOf(alarm, present?.userID ?? '', role);
  const isOff = dialogs.isBusy || dialogs.isDown;
  return (
    <div className="row wrap">
      {rights.canTake ? (
        <ActionButton
          className={alarm.priority === 'low' ? 'button primary' : 'button take'}
          isOff={isOff}
          onPress={() => dialogs.take(alarm)}
        >
          {texts.take}
        </ActionButton>
      ) : null}
      {rights.canClose ? (
        <ActionButton
          className="button secondary"
          isOff={isOff}
          aria-haspopup="dialog"
          onPress={() => dialogs.open('close', alarm)}
        >
          {texts.close}…
        </ActionButton>
      ) : null}
      {rights.canShelve ? (
        <ActionButton
          className="button secondary"
          isOff={isOff}
          aria-haspopup="dialog"
          onPress={() => dialogs.open('shelve', alarm)}
        >
          {texts.shelve}…
        </ActionButton>
      ) : null}
      {rights.canUnshelve ? (
        <ActionButton className="button secondary" isOff={isOff} onPress={() => dialogs.resume(alarm)}>
          {texts.resume}
        </ActionButton>
      ) : null}
      {rights.canAssign ? (
        <ActionButton
          className="button secondary"
          isOff={isOff || many.isBusy}
          aria-haspopup="dialog"
          onPress={() => many.open('assign', [alarm])}
        >
          {texts.assign}…
        </ActionButton>
      ) : null}
      {rights.canRelease ? (
        <ActionButton className="button" isOff={isOff} onPress={() => dialogs.release(alarm)}>
          {texts.release}
        </ActionButton>
      ) : null}
      <CopyAlarm alarm={alarm} />
      <Link className="button" to="/live" search={{ vehicle: alarm.deviceID }}>
        <Icon name="map" />
        {vehicle.onMap}
      </Link>
      {of === undefined ? null : (
        <OpenOrder relay="enginecutoff" deviceID={of.id} pending={of.pendingCut} mayCommand={of.mayCommand} />
      )}
      {role === 'viewer' ? <p className="muted">{texts.viewer}</p> : null}
    </div>
  );
}

const activityIcons: Readonly<Record<string, IconName>> = {
  close: 'circle-check',
  shelve: 'hourglass',
  escalate: 'bell',
};

function Activity({ detail, words }: { readonly detail: Detail; readonly words: Words }) {
  const { alarms: texts } = words;
  const acts: Readonly<Record<string, string>> = texts.actions;
  const reasons: Readonly<Record<string, string>> = texts.reasons;
  return (
    <ul className="thread">
      {detail.activity.toReversed().map(({ at, actor, action, other, text }, index) => (
        <li key={`${at} ${index}`}>
          <span className="avatar" aria-hidden="true">
            {actor === 'service' ? (
              <Icon name={activityIcons[action] ?? 'bell'} />
            ) : (
              actor.slice(0, 2).toUpperCase()
            )}
          </span>
          <div>
            {actor === 'service' ? texts.service : actor} {acts[action] ?? action}{' '}
            {action === 'close' ? (reasons[other] ?? other) : other} {text === '' ? null : <q>{text}</q>}{' '}
            <small>
              <Time at={at} />
            </small>
          </div>
        </li>
      ))}
    </ul>
  );
}

interface DetailProps {
  readonly alarmID: string | null;
  /** As the queue has it; null when it is not in the queue. */
  readonly known: Alarm | null;
  readonly role: string;
  readonly dialogs: Dialogs;
  readonly many: ManyAlarms;
}

export function AlarmDetail({ alarmID, known, role, dialogs, many }: DetailProps) {
  const words = useWords();
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['alarm', alarmID],
    queryFn: ({ signal }) => call('getAlarm', { params: { alarmID: alarmID ?? '' }, signal }),
    enabled: alarmID !== null,
  });
  const stamp = known === null ? '' : `${known.version} ${known.count}`;
  useEffect(() => {
    if (stamp !== '') void refetch();
  }, [stamp, refetch]);
  const alarm = known ?? data ?? null;
  if (alarmID === null)
    return (
      <aside className="card not-narrow" aria-label={words.alarms.activity}>
        <Empty icon="bell" title={words.alarms.pick} />
      </aside>
    );
  const failure =
    dialogs.failure === null || dialogs.opened !== null
      ? null
      : failureText(dialogs.failure, words, words.alarms.failed);
  const loadFailure = error === null ? null : failureText(error, words);
  const title =
    alarm === null
      ? words.common.loading
      : words.alarms.details({ alarm: codeText(alarm.statusCode, words), vehicle: alarm.deviceDisplayName });
  return (
    <aside className="card alarm-detail" aria-labelledby="alarm-title">
      <header>
        <h2 id="alarm-title">{title}</h2>
        {alarm === null ? null : (
          <span className="push">
            <AlarmBadge alarm={alarm} />
          </span>
        )}
        <Link
          className="button square small"
          from="/alarms"
          to="/alarms"
          search={(before) => without(before, 'alarm')}
          aria-label={words.common.close}
          replace
        >
          <Icon name="x" />
        </Link>
      </header>
      <div className="card-body stack">
        {loadFailure !== null && alarm === null ? <FailureNotice failure={loadFailure} /> : null}
        {alarm === null ? null : (
          <>
            <Facts alarm={alarm} detail={data} />
            <Actions alarm={alarm} role={role} dialogs={dialogs} many={many} />
            <FailureNotice failure={failure} />
            <h3>{words.deliveries.title}</h3>
            {data === undefined || data.deliveries.length === 0 ? (
              <Known readMs={dataUpdatedAt} error={error} isSmall>
                <Deliveries deliveries={[]} />
              </Known>
            ) : (
              <Deliveries deliveries={data.deliveries} />
            )}
            <h3>{words.alarms.activity}</h3>
            {data === undefined || data.activity.length === 0 ? (
              <Known readMs={dataUpdatedAt} error={error} isSmall>
                <p className="muted">{words.alarms.nothingDone}</p>
              </Known>
            ) : (
              <Activity detail={data} words={words} />
            )}
            <Suspense>{role === 'viewer' ? null : <NoteForm alarm={alarm} dialogs={dialogs} />}</Suspense>
          </>
        )}
      </div>
    </aside>
  );
}
