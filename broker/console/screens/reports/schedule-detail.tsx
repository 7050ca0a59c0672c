// One report by mail: what it is, what became of the last one, its change, a test, and its end.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { reportWords } from '../../../../build/words/report.ts';
import { ruleWords } from '../../../../build/words/rule.ts';
import { scheduleWords } from '../../../../build/words/schedule.ts';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { TextPairs } from '../../components/rows/text-pairs.tsx';
import { Badge, Notice, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { session } from '../../service/session.ts';
import type { Schedule } from '../../state/reports/schedule-draft.ts';
import { reasonText } from '../rules/rule-words.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { aboutText, dueText, recurrenceText } from './schedule-words.ts';
import { useScheduleDialog, useSchedulesChanged } from './use-schedules.ts';

const looks = {
  sent: ['circle-check', 'ok'],
  pending: ['hourglass', 'busy'],
  dead: ['circle-x', 'look'],
} as const;

function Facts({ schedule }: { readonly schedule: Schedule }) {
  const words = useWords(scheduleWords, reportWords);
  const { schedules: texts, common } = words;
  const { fields } = texts;
  const fleet = useValue(vehicles);
  const { devices, groups, owner, nextDue, timeZone, recipients } = schedule;
  const named = [...devices.map((id) => fleet.get(id)?.name ?? id), ...groups];
  const rows = [
    [fields.kind, aboutText(schedule, words)],
    [fields.vehicles, named.length === 0 ? texts.allOf({ owner }) : named.join(', ')],
    [fields.every, `${recurrenceText(schedule, words)} (${timeZone})`],
    [fields.next, nextDue === 0 ? common.none : dueText(nextDue, timeZone, words)],
    [fields.recipients, recipients.join(', ')],
    [fields.owner, owner],
  ] as const;
  return (
    <TextPairs rows={rows}>
      <div className="pair">
        <dt>{fields.changed}</dt>
        <dd>
          <Time at={schedule.changed} />
        </dd>
      </div>
    </TextPairs>
  );
}

function Mails({ mails }: { readonly mails: NonNullable<Schedule['lastResult']>['mails'] }) {
  const words = useWords(scheduleWords, ruleWords);
  const { result } = words.schedules;
  return (
    <ul className="stack" aria-label={result.mails}>
      {mails.map(({ target, state, ended, lastErrorCode, lastErrorDetail }) => (
        <li key={target} className="row wrap">
          <Badge icon={looks[state][0]} tone={looks[state][1]}>
            {result.states[state]}
          </Badge>
          <bdi>{target}</bdi>
          {ended === 0 ? null : <Time at={ended} />}
          <span className="note">{reasonText(lastErrorCode, lastErrorDetail, words)}</span>
        </li>
      ))}
    </ul>
  );
}

function LastResult({ schedule }: { readonly schedule: Schedule }) {
  const { schedules: texts } = useWords(scheduleWords);
  const { result } = texts;
  const { lastResult, stopped, isAsked } = schedule;
  return (
    <section className="stack" aria-labelledby="last-report-title">
      <h3 id="last-report-title">{result.title}</h3>
      <div aria-live="polite" className="stack">
        {isAsked ? (
          <p>
            <Badge icon="hourglass" tone="busy">
              {texts.asked}
            </Badge>
          </p>
        ) : null}
        {stopped === '' ? null : (
          <Notice tone="look" icon="ban" title={result.reasons[stopped]}>
            {result.goesOn}
          </Notice>
        )}
        {lastResult === null ? (
          <p className="muted">{result.none}</p>
        ) : (
          <>
            <p>
              {result.due} <Time at={lastResult.due} /> · {result.made} <Time at={lastResult.at} />
              {lastResult.reason === '' ? ` · ${result.rows({ count: lastResult.rows })}` : null}
            </p>
            {lastResult.reason === '' || lastResult.reason === stopped ? null : (
              <Notice tone="look" icon="triangle-alert" title={result.reasons[lastResult.reason]} />
            )}
            {lastResult.withoutFile === '' ? null : <p>{result.noFile[lastResult.withoutFile]}</p>}
            {lastResult.mails.length === 0 ? null : <Mails mails={lastResult.mails} />}
          </>
        )}
      </div>
    </section>
  );
}

function SendDialog({ schedule }: { readonly schedule: Schedule }) {
  const { schedules: texts } = useWords(scheduleWords);
  const { scheduleID, recipients } = schedule;
  const dialog = useScheduleDialog();
  const changed = useSchedulesChanged();
  // Each call sends further mails: it is never repeated by itself.
  const sending = useMutation({
    mutationFn: () => call('sendReport', { body: { scheduleID } }),
    retry: false,
    async onSuccess() {
      await changed();
      dialog.close();
    },
  });
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('schedule-send')}
      icon="signal"
      title={texts.sendTitle({ id: scheduleID })}
      action={texts.sendAction({ id: scheduleID })}
      change={sending}
      close={dialog.close}
    >
      <p>{texts.sendText({ count: recipients.length })}</p>
    </ChangeDialog>
  );
}

function DeleteDialog({ scheduleID }: { readonly scheduleID: string }) {
  const { schedules: texts } = useWords(scheduleWords);
  const dialog = useScheduleDialog();
  const changed = useSchedulesChanged();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => call('deleteReportSchedule', { body: { scheduleID } }),
    async onSuccess() {
      await changed();
      void navigate({ to: '/reports/mail', search: {}, replace: true });
    },
  });
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('schedule-delete')}
      icon="circle-alert"
      title={texts.deleteTitle({ id: scheduleID })}
      action={texts.deleteAction({ id: scheduleID })}
      change={deleting}
      close={dialog.close}
    >
      <p>{texts.deleteText}</p>
    </ChangeDialog>
  );
}

export function ScheduleDetail({ schedule }: { readonly schedule: Schedule }) {
  const { schedules: texts } = useWords(scheduleWords);
  const { scheduleID, owner } = schedule;
  const isOwn = owner === session.get()?.userID;
  const dialog = useScheduleDialog();
  return (
    <aside className="card" aria-labelledby="schedule-title">
      <header>
        <h2 id="schedule-title">{schedule.scheduleDisplayName}</h2>
      </header>
      <div className="card-body stack">
        <Facts schedule={schedule} />
        <LastResult schedule={schedule} />
        {isOwn ? null : <p className="muted">{texts.others({ owner })}</p>}
        <div className="row wrap">
          {isOwn ? (
            <Button
              className="button secondary"
              aria-haspopup="dialog"
              onPress={() => dialog.open('schedule-edit')}
            >
              {texts.edit}…
            </Button>
          ) : null}
          <Button
            className="button secondary"
            aria-haspopup="dialog"
            onPress={() => dialog.open('schedule-send')}
          >
            <Icon name="signal" />
            {texts.send}…
          </Button>
          <Button className="button" aria-haspopup="dialog" onPress={() => dialog.open('schedule-delete')}>
            {texts.delete}…
          </Button>
        </div>
        {isOwn ? <ScheduleForm key={schedule.changed} name="schedule-edit" schedule={schedule} /> : null}
        <SendDialog schedule={schedule} />
        <DeleteDialog scheduleID={scheduleID} />
      </div>
    </aside>
  );
}
