// Reports that are mailed on a schedule: the list, and of the one that is chosen what became of the last one, its change, a test, and its end.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { reportWords } from '../../../../build/words/report.ts';
import { ruleWords } from '../../../../build/words/rule.ts';
import { scheduleWords } from '../../../../build/words/schedule.ts';
import { ItemLink } from '../../components/patterns/address.tsx';
import { Actions, Pairs } from '../../components/patterns/detail.tsx';
import { ActionDialog } from '../../components/patterns/form.tsx';
import { ListDetail } from '../../components/patterns/list-detail.tsx';
import { Card, Gate, isOneOf, Page } from '../../components/patterns/page.tsx';
import { Badge, Notice, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { useRole } from '../../service/role.ts';
import { session } from '../../service/session.ts';
import type { Schedule } from '../../state/reports/schedule-draft.ts';
import { reasonText } from '../rules/rule-words.ts';
import { ReportTabs } from './filters.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { aboutText, dueText, lastText, recurrenceText } from './schedule-words.ts';

/** Queries that a change of a schedule makes old. */
const changes = ['schedules'];

/** How often the list is read anew while it is shown, ms: also while a report is being made. */
const anewMs = { still: 10_000, asked: 2000 } as const;

const isUnderWay = ({ isAsked, lastResult }: Schedule): boolean =>
  isAsked || lastResult?.mails.some(({ state }) => state === 'pending') === true;

function useSchedules() {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['schedules'],
    queryFn: ({ signal }) => call('getReportSchedules', { signal }),
    refetchInterval: ({ state }) =>
      state.data?.schedules.some(isUnderWay) === true ? anewMs.asked : anewMs.still,
  });
  return { items: data?.schedules, canMail: data?.canMail, readMs: dataUpdatedAt, error };
}

function Facts({ schedule }: { readonly schedule: Schedule }) {
  const words = useWords(scheduleWords, reportWords);
  const { schedules: texts, common } = words;
  const { fields } = texts;
  const fleet = useValue(vehicles);
  const { devices, groups, owner, nextDue, timeZone, recipients } = schedule;
  const named = [...devices.map((id) => fleet.get(id)?.name ?? id), ...groups];
  return (
    <Pairs
      rows={[
        [fields.kind, aboutText(schedule, words)],
        [fields.vehicles, named.length === 0 ? texts.allOf({ owner }) : named.join(', ')],
        [fields.every, `${recurrenceText(schedule, words)} (${timeZone})`],
        [fields.next, nextDue === 0 ? common.none : dueText(nextDue, timeZone, words)],
        [fields.recipients, recipients.join(', ')],
        [fields.owner, owner],
        [fields.changed, <Time at={schedule.changed} />],
      ]}
    />
  );
}

const looks = {
  sent: ['circle-check', 'ok'],
  pending: ['hourglass', 'busy'],
  dead: ['circle-x', 'look'],
} as const;

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

function ScheduleDetail({ schedule }: { readonly schedule: Schedule }) {
  const { schedules: texts } = useWords(scheduleWords);
  const navigate = useNavigate();
  const { scheduleID, owner, recipients } = schedule;
  const of = { id: scheduleID };
  const isOwn = owner === session.get()?.userID;
  return (
    <Card title={schedule.scheduleDisplayName} isAside>
      <Facts schedule={schedule} />
      <LastResult schedule={schedule} />
      {isOwn ? null : <p className="muted">{texts.others({ owner })}</p>}
      <Actions
        of={[
          isOwn
            ? {
                name: 'schedule-edit',
                text: texts.edit,
                dialog: <ScheduleForm schedule={schedule} taken={undefined} />,
              }
            : null,
          {
            name: 'schedule-send',
            text: texts.send,
            icon: 'signal',
            dialog: (
              <ActionDialog
                icon="signal"
                title={texts.sendTitle(of)}
                action={texts.sendAction(of)}
                changes={changes}
                run={() => call('sendReport', { body: { scheduleID } })}
              >
                <p>{texts.sendText({ count: recipients.length })}</p>
              </ActionDialog>
            ),
          },
          {
            name: 'schedule-delete',
            text: texts.delete,
            className: 'button',
            dialog: (
              <ActionDialog
                title={texts.deleteTitle(of)}
                action={texts.deleteAction(of)}
                changes={changes}
                run={() => call('deleteReportSchedule', { body: { scheduleID } })}
                onDone={() => void navigate({ to: '/reports/mail', search: {}, replace: true })}
              >
                <p>{texts.deleteText}</p>
              </ActionDialog>
            ),
          },
        ]}
      />
    </Card>
  );
}

function ScheduleList() {
  const words = useWords(scheduleWords, reportWords);
  const { schedules: texts, common } = words;
  const { columns } = texts;
  const { schedule: selected = null } = useSearch({ from: '/shell/reports/mail' });
  const schedules = useSchedules();
  const taken = schedules.items?.map(({ scheduleID }) => scheduleID);
  return (
    <>
      {schedules.canMail === false ? (
        <Notice tone="look" icon="triangle-alert" role="status" title={texts.noServer}>
          {texts.noServerHint}
        </Notice>
      ) : null}
      <ListDetail
        title={texts.title}
        list={schedules}
        empty={{ icon: 'table', title: texts.empty, hint: texts.emptyHint }}
        create={{
          name: 'schedule-create',
          text: texts.create,
          form: <ScheduleForm schedule={null} taken={taken} />,
        }}
        caption={texts.caption}
        columns={[
          {
            name: columns.name,
            cell: ({ scheduleID, scheduleDisplayName: name }) => (
              <ItemLink
                search={{ schedule: scheduleID }}
                isChosen={scheduleID === selected}
                note={name === scheduleID ? '' : scheduleID}
              >
                {name}
              </ItemLink>
            ),
          },
          {
            name: columns.state,
            isBare: true,
            cell: ({ stopped, isActive }) =>
              stopped !== '' ? (
                <Badge icon="ban" tone="look">
                  {texts.stopped}
                </Badge>
              ) : isActive ? (
                <Badge icon="circle-check" tone="ok">
                  {texts.on}
                </Badge>
              ) : (
                <Badge icon="pause">{texts.off}</Badge>
              ),
          },
          { name: columns.what, cell: (one) => aboutText(one, words) },
          {
            name: columns.next,
            cell: ({ nextDue, timeZone }) => (
              <bdi>{nextDue === 0 ? common.none : dueText(nextDue, timeZone, words)}</bdi>
            ),
          },
          { name: columns.last, cell: (one) => lastText(one, words) },
        ]}
        keyOf={({ scheduleID }) => scheduleID}
        selected={selected}
        none={{ label: columns.what, pick: texts.pick, gone: texts.gone }}
        detail={(one) => <ScheduleDetail key={one.scheduleID} schedule={one} />}
      />
    </>
  );
}

export function ReportsByMailScreen() {
  const { schedules: texts, pages } = useWords(scheduleWords, reportWords);
  const isOpen = isOneOf(useRole(), 'operator', 'admin');
  return (
    <Page title={pages.reports.title} tabTitle={texts.title}>
      <ReportTabs />
      <Gate isOpen={isOpen} title={texts.notForViewers} hint={texts.notForViewersHint}>
        <ScheduleList />
      </Gate>
    </Page>
  );
}
