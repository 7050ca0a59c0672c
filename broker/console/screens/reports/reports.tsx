// Reports: sums, trips, stops, alarms, decisions and events of vehicles over a period, as a table and as bars of the same rows.

import { useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { Button } from 'react-aria-components';
import { findWords } from '../../../../build/words/find.ts';
import { reportWords } from '../../../../build/words/report.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { columnOfSort, columnsOf, firstSort } from '../../../../src/core/reports/columns.ts';
import { type NameOf, sortRows } from '../../../../src/core/reports/rows.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { CopyLink } from '../../components/patterns/copy-link.tsx';
import { Empty, Loading, momentText, Notice, timeText } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { Known, useFailure } from '../../components/view.tsx';
import { vehicles } from '../../service/live.ts';
import { useGroupInAddress } from '../../service/reading/groups.ts';
import { session } from '../../service/session.ts';
import { firstCode, parseVehicles, periodOf } from '../../state/reports/report-view.ts';
import { ReportChart } from './chart.tsx';
import { Filters, ReportTabs, vehiclesText } from './filters.tsx';
import { SaveMenu, SavingNotice } from './save.tsx';
import { ReportTable, rowsAtOnce } from './table.tsx';
import { type Report, rowsMost, useReport } from './use-report.ts';
import { useSaving } from './use-saving.ts';

/** The name of a vehicle; its id when it has none, or is not there. */
function useNames(): NameOf {
  const fleet = useValue(vehicles);
  return useCallback((deviceID) => fleet.get(deviceID)?.name ?? deviceID, [fleet]);
}

/** Everything that the address asks for. */
function useAsked() {
  const search = useSearch({ from: '/shell/reports' });
  const inAddress = useGroupInAddress();
  const { kind = 'summary', vehicles: named, from, to, code = firstCode, driver = '', sort, rows } = search;
  const deviceIDs = useMemo(() => parseVehicles(named) ?? [], [named]);
  // Vehicles that are named go before a group.
  const hasGroup = deviceIDs.length === 0;
  const hasDates = from !== undefined && to !== undefined;
  const range = search.range ?? 'week';
  const dates = hasDates ? { fromS: from, toS: to } : {};
  const columns: readonly string[] = columnsOf[kind];
  return {
    kind,
    deviceIDs,
    group: hasGroup ? inAddress.ids : null,
    groupName: inAddress.name,
    groupError: hasGroup ? inAddress.error : null,
    code: kind === 'events' ? code : 0,
    driver: kind === 'trips' ? driver : '',
    range: hasDates ? null : range,
    periodKey: hasDates ? `${from} ${to}` : range,
    periodAt: (nowS: number) => periodOf(range, dates, nowS),
    sort: sort === undefined || !columns.includes(columnOfSort(sort)) ? firstSort(kind) : sort,
    most: rows ?? rowsAtOnce,
  };
}

function Reading({ report }: { readonly report: Report }) {
  const { reports: texts } = useWords(reportWords);
  const { done, all, rows } = useValue(report.progress);
  return (
    <div className="card-body row wrap not-printed">
      {all > 1 ? <progress aria-label={texts.reading({ done, all })} value={done} max={all} /> : null}
      <span className="muted">
        {all > 1 ? texts.reading({ done, all }) : texts.readingRows({ count: rows })}
      </span>
      <Button className="button secondary small" onPress={report.stop}>
        {texts.stop}
      </Button>
    </div>
  );
}

function TooLong({ days, isFleet }: { readonly days: number; readonly isFleet: boolean }) {
  const { reports: texts } = useWords(reportWords);
  return (
    <Empty icon="hourglass" title={texts.tooLong({ days })}>
      <p>{isFleet ? texts.tooLongFleet : texts.tooLongNamed}</p>
    </Empty>
  );
}

function Content({
  report,
  asked,
  sorted,
  nameOf,
}: {
  readonly report: Report;
  readonly asked: ReturnType<typeof useAsked>;
  readonly sorted: Report['rows'];
  readonly nameOf: NameOf;
}) {
  const { reports: texts } = useWords(reportWords);
  const { kind, sort, most } = asked;
  const failure = useFailure(report.error ?? asked.groupError);
  if (report.tooLongDays !== null)
    return <TooLong days={report.tooLongDays} isFleet={asked.deviceIDs.length === 0} />;
  return (
    <>
      {failure}
      {report.canStop ? <Reading report={report} /> : null}
      {sorted === undefined ? (
        report.isReading ? (
          <Loading rows={6} />
        ) : report.error === null ? (
          <Empty icon="ban" title={texts.stopped}>
            <p>{texts.stoppedHint}</p>
          </Empty>
        ) : null
      ) : sorted.length === 0 ? (
        <Known readMs={report.readS * 1000} error={report.error} isDated>
          <Empty icon="table" title={texts.empty[kind]}>
            <p>{texts.emptyHint}</p>
          </Empty>
        </Known>
      ) : (
        <>
          {report.isCapped ? (
            <Notice tone="look" icon="circle-alert" role="status" title={texts.capped({ count: rowsMost })}>
              {texts.cappedHint}
            </Notice>
          ) : null}
          <ReportChart kind={kind} rows={sorted} nameOf={nameOf} />
          <ReportTable kind={kind} rows={sorted} sort={sort} most={most} nameOf={nameOf} />
        </>
      )}
    </>
  );
}

type Asked = ReturnType<typeof useAsked>;
type ReportTexts = ReturnType<typeof useReportWords>;
const useReportWords = () => useWords(reportWords, tabWords, findWords);

/** Which vehicles it is about. @param all how many there are. */
function amongText(
  { group, groupName, deviceIDs }: Asked,
  all: number,
  nameOf: NameOf,
  words: ReportTexts,
): string {
  if (group === null) return vehiclesText(deviceIDs, nameOf, words);
  return group === undefined
    ? groupName
    : words.find.group.shown({ name: groupName, shown: group.size, all });
}

function periodText(
  range: Asked['range'],
  { fromS, toS }: ReturnType<Asked['periodAt']>,
  words: ReportTexts,
): string {
  const untilS = toS === 0 ? Math.floor(Date.now() / 1000) : toS;
  const text = words.reports.between({ from: momentText(fromS, 'date'), to: momentText(untilS, 'date') });
  return range === null ? text : `${words.events.ranges[range]} (${text})`;
}

export function ReportsScreen() {
  const words = useReportWords();
  const { reports: texts } = words;
  const asked = useAsked();
  const search = useSearch({ from: '/shell/reports' });
  const { kind, deviceIDs, group, code, driver, range, periodKey, periodAt, sort } = asked;
  const nameOf = useNames();
  const fleet = useValue(vehicles);
  const report = useReport({ kind, deviceIDs, group, code, driver }, periodKey, periodAt);
  const files = useSaving();
  const { rows, readS, isReading, tooLongDays } = report;
  const sorted = useMemo(
    () => (rows === undefined ? undefined : sortRows(rows, sort, nameOf)),
    [rows, sort, nameOf],
  );
  useTitle(words.pages.reports.title);
  const among = amongText(asked, fleet.size, nameOf, words);
  // A named period ended when it was read.
  const period = periodAt(readS === 0 ? Math.floor(Date.now() / 1000) : readS);
  return (
    <main className="page reports" id="main">
      <header className="page-head">
        <h1>{words.pages.reports.title}</h1>
        <span className="muted only-printed">
          {texts.printed({ account: session.get()?.accountID ?? '' })}
        </span>
        <div className="row wrap push not-printed">
          <CopyLink to={{ to: '/reports', search }} what={`${texts.kinds[kind]}, ${among}`} />
          <ActionButton
            className="button secondary"
            isOff={isReading || tooLongDays !== null}
            onPress={report.read}
          >
            <Icon name="refresh-cw" />
            {texts.readAgain}
          </ActionButton>
          <Button className="button secondary" onPress={() => window.print()}>
            <Icon name="printer" />
            {texts.print}
          </Button>
          <SaveMenu
            kind={kind}
            rows={sorted ?? []}
            nameOf={nameOf}
            period={period}
            readS={readS}
            deviceIDs={
              deviceIDs.length > 0
                ? deviceIDs
                : group === undefined
                  ? []
                  : [...(group ?? fleet.keys())].toSorted()
            }
            files={files}
          />
        </div>
      </header>
      <ReportTabs />
      <div className="not-printed" aria-live="polite">
        <SavingNotice files={files} nameOf={nameOf} />
      </div>
      <section className="card" aria-labelledby="report-title">
        <Filters chosen={deviceIDs} among={among} range={range} period={period} />
        <header className="wrap">
          <h2 id="report-title">{texts.kinds[kind]}</h2>
          <span className="muted">
            {[
              periodText(range, period, words),
              among,
              ...(sorted === undefined
                ? []
                : [texts.rows({ count: sorted.length }), texts.asOf({ time: timeText(readS) })]),
            ].join(' · ')}
          </span>
        </header>
        <Content report={report} asked={asked} sorted={sorted} nameOf={nameOf} />
        <p className="card-body muted report-note">{texts.notes[kind]}</p>
      </section>
    </main>
  );
}
