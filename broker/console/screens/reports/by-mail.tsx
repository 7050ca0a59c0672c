// Reports that are mailed on a schedule: the list, the one that is chosen, and the form of a new one.
import { Link, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { reportWords } from '../../../../build/words/report.ts';
import { scheduleWords } from '../../../../build/words/schedule.ts';
import { Icon } from '../../components/icon.tsx';
import { ListTable } from '../../components/rows/list-table.tsx';
import { Badge, Empty, Loading, Notice } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { useRole } from '../../service/role.ts';
import type { Schedule } from '../../state/reports/schedule-draft.ts';
import { ReportTabs } from './report-tabs.tsx';
import { ScheduleDetail } from './schedule-detail.tsx';
import { ScheduleForm } from './schedule-form.tsx';
import { aboutText, dueText, lastText } from './schedule-words.ts';
import { useScheduleDialog, useSchedules } from './use-schedules.ts';

function State({ schedule }: { readonly schedule: Schedule }) {
  const { schedules: texts } = useWords(scheduleWords);
  if (schedule.stopped !== '')
    return (
      <Badge icon="ban" tone="look">
        {texts.stopped}
      </Badge>
    );
  return schedule.isActive ? (
    <Badge icon="circle-check" tone="ok">
      {texts.on}
    </Badge>
  ) : (
    <Badge icon="pause">{texts.off}</Badge>
  );
}

function Row({ schedule, isSelected }: { readonly schedule: Schedule; readonly isSelected: boolean }) {
  const words = useWords(scheduleWords, reportWords);
  const { common, schedules: texts } = words;
  const { scheduleID, scheduleDisplayName, nextDue, timeZone } = schedule;
  return (
    <tr data-selected={isSelected}>
      <th scope="row">
        <Link
          to="/reports/mail"
          search={{ schedule: scheduleID }}
          resetScroll={false}
          {...(isSelected ? { 'aria-current': true as const } : {})}
        >
          {scheduleDisplayName}
        </Link>
        <span className="note">{scheduleDisplayName === scheduleID ? '' : scheduleID}</span>
      </th>
      <td>
        <State schedule={schedule} />
      </td>
      <td data-label={texts.columns.what}>{aboutText(schedule, words)}</td>
      <td data-label={texts.columns.next}>
        <bdi>{nextDue === 0 ? common.none : dueText(nextDue, timeZone, words)}</bdi>
      </td>
      <td data-label={texts.columns.last}>{lastText(schedule, words)}</td>
    </tr>
  );
}

function ScheduleList() {
  const { schedules: texts } = useWords(scheduleWords);
  const { schedule: chosenID = null } = useSearch({ from: '/shell/reports/mail' });
  const { schedules, canMail, readMs, error } = useSchedules();
  const dialog = useScheduleDialog();
  const selected = schedules?.find(({ scheduleID }) => scheduleID === chosenID);
  const { name, state, what, next, last } = texts.columns;
  return (
    <>
      {canMail === false ? (
        <Notice tone="look" icon="triangle-alert" role="status" title={texts.noServer}>
          {texts.noServerHint}
        </Notice>
      ) : null}
      <div className="split">
        <section className="card" aria-labelledby="schedules-title">
          <header className="wrap">
            <h2 id="schedules-title">{texts.title}</h2>
            <Button
              className="button primary push"
              aria-haspopup="dialog"
              onPress={() => dialog.open('schedule-create')}
            >
              <Icon name="plus" />
              {texts.create}…
            </Button>
          </header>
          <View
            error={error}
            readMs={readMs}
            empty={
              schedules?.length === 0 ? (
                <Empty icon="table" title={texts.empty}>
                  <p>{texts.emptyHint}</p>
                </Empty>
              ) : null
            }
          >
            <ListTable caption={texts.caption} columns={[name, state, what, next, last]}>
              {schedules?.map((one) => (
                <Row key={one.scheduleID} schedule={one} isSelected={one.scheduleID === chosenID} />
              ))}
            </ListTable>
          </View>
        </section>
        {selected === undefined ? (
          <aside className="card not-narrow" aria-label={texts.columns.what}>
            <Empty
              icon="table"
              title={chosenID === null || schedules === undefined ? texts.pick : texts.gone}
            />
          </aside>
        ) : (
          <ScheduleDetail key={selected.scheduleID} schedule={selected} />
        )}
        <ScheduleForm name="schedule-create" schedule={null} />
      </div>
    </>
  );
}

function Content() {
  const { schedules: texts } = useWords(scheduleWords);
  const role = useRole();
  if (role === 'admin' || role === 'operator') return <ScheduleList />;
  return (
    <section className="card">
      {role === '' ? (
        <Loading rows={5} />
      ) : (
        <Empty icon="lock" title={texts.notForViewers}>
          <p>{texts.notForViewersHint}</p>
        </Empty>
      )}
    </section>
  );
}

export function ReportsByMailScreen() {
  const words = useWords(scheduleWords, reportWords);
  useTitle(words.schedules.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.reports.title}</h1>
      </header>
      <ReportTabs />
      <Content />
    </main>
  );
}
