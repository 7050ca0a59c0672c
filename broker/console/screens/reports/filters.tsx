// What a report is asked of: kind, vehicles, period, kind of event. All of it stands in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { reportWords } from '../../../../build/words/report.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { reportKinds } from '../../../../src/core/reports/columns.ts';
import type { NameOf } from '../../../../src/core/reports/rows.ts';
import { Chips } from '../../components/chips.tsx';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { AddressChips, usePut } from '../../components/patterns/address.tsx';
import { GroupFilter } from '../../components/patterns/group-filter.tsx';
import { codeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { VehicleChoices } from '../../components/vehicle-choices.tsx';
import { useDrivers } from '../../service/reading/drivers.ts';
import { dateOf, endOfDate, startOfDate } from '../../state/reports/report-dates.ts';
import { firstCode, type Period, vehiclesMost } from '../../state/reports/report-view.ts';
import { type Range, ranges } from '../../state/vehicle/vehicle-view.ts';
import { shownZone } from '../../words/measures.ts';
import type { WordsWith } from '../../words/word-set.ts';

/** The two pages of reports: the report that is read now, and those that are mailed. */
export function ReportTabs() {
  const { pages: texts } = useWords(reportWords).reports;
  return (
    <nav className="tabs page-tabs not-printed" aria-label={texts.label}>
      <Link to="/reports" activeOptions={{ exact: true }}>
        {texts.report}
      </Link>
      <Link to="/reports/mail">{texts.mail}</Link>
    </nav>
  );
}

/** The chosen vehicles by name: one, so many, or the whole fleet. */
export function vehiclesText(
  chosen: readonly string[],
  nameOf: NameOf,
  { reports }: WordsWith<[typeof reportWords]>,
): string {
  const [first] = chosen;
  if (first === undefined) return reports.fleet;
  return chosen.length === 1 ? nameOf(first) : reports.vehicleCount({ count: chosen.length });
}

interface VehiclesProps {
  /** The vehicles in words. */
  readonly among: string;
  readonly chosen: readonly string[];
}

function VehiclesButton({ chosen, among }: VehiclesProps) {
  const { reports: texts, common } = useWords(reportWords);
  const put = usePut();
  const choose = (ids: readonly string[]): void =>
    put({ rows: undefined, group: undefined, vehicles: ids.length === 0 ? undefined : ids.join() });
  return (
    <DialogTrigger>
      <Button className="button secondary small">
        <Icon name="truck" />
        <span className="cut-off">{texts.chosen({ what: among })}</span>
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal small-modal">
          <Dialog className="dialog">
            <header>
              <Icon name="truck" isLarge />
              <Heading slot="title">{texts.choose}</Heading>
              <Button className="button square push" slot="close" aria-label={common.close}>
                <Icon name="x" />
              </Button>
            </header>
            <div className="body">
              <VehicleChoices chosen={chosen} most={vehiclesMost} choose={choose} />
              <Button className="button small secondary" onPress={() => choose([])}>
                {texts.fleet}
              </Button>
            </div>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

interface PeriodProps {
  /** Null: the period is one of dates. */
  readonly range: Range | null;
  readonly period: Period;
}

/** Two dates that are asked for together, so that none is read while one is typed. */
function Dates({ period: { fromS, toS } }: Pick<PeriodProps, 'period'>) {
  const { reports: texts } = useWords(reportWords);
  const put = usePut();
  const zone = shownZone();
  const [from, to] = [dateOf(fromS, zone), dateOf(toS === 0 ? Date.now() / 1000 : toS, zone)];
  const [first, setFirst] = useState(from);
  const [last, setLast] = useState(to);
  useEffect(() => {
    setFirst(from);
    setLast(to);
  }, [from, to]);
  const apply = (event: FormEvent): void => {
    event.preventDefault();
    // Dates in the wrong order are taken as the same period.
    const [one = '', other = ''] = [first, last].toSorted();
    const [start, end] = [startOfDate(one, zone), endOfDate(other, zone)];
    if (start === null || end === null) return;
    put({ range: undefined, rows: undefined, from: start, to: end });
  };
  return (
    <form className="row wrap" onSubmit={apply}>
      <label className="row">
        <span className="muted">{texts.from}</span>
        <input
          type="date"
          className="input date"
          required
          value={first}
          onChange={({ currentTarget }) => setFirst(currentTarget.value)}
        />
      </label>
      <label className="row">
        <span className="muted">{texts.to}</span>
        <input
          type="date"
          className="input date"
          required
          value={last}
          onChange={({ currentTarget }) => setLast(currentTarget.value)}
        />
      </label>
      <button type="submit" className="button secondary small">
        {texts.apply}
      </button>
    </form>
  );
}

function CodeField() {
  const words = useWords(reportWords);
  const put = usePut();
  const { code = firstCode } = useSearch({ from: '/shell/reports' });
  const codes = useMemo(() => {
    const known = Object.keys(words.codes).map(Number);
    return [...new Set([...known, code])]
      .map((one) => [one, codeText(one, words)] as const)
      .toSorted(([, one], [, other]) => one.localeCompare(other, words.locale));
  }, [words, code]);
  return (
    <ChoiceField
      label={words.reports.code}
      value={code}
      choices={codes}
      onChoose={(one) => put({ rows: undefined, code: one })}
    />
  );
}

/** Shown where there are drivers, and to whom they are. */
function DriverField() {
  const { reports: texts, common } = useWords(reportWords);
  const put = usePut();
  const { driver = '' } = useSearch({ from: '/shell/reports' });
  const { items = [] } = useDrivers();
  if (items.length === 0) return null;
  return (
    <ChoiceField
      label={texts.columns.driver}
      value={driver}
      choices={[['', common.all], ...items.map((one) => [one.driverID, one.driverDisplayName] as const)]}
      onChoose={(one) => put({ rows: undefined, driver: one || undefined })}
    />
  );
}

export function Filters({ chosen, among, range, period }: VehiclesProps & PeriodProps) {
  const { reports: texts, events } = useWords(reportWords, tabWords);
  const put = usePut();
  const { kind = 'summary' } = useSearch({ from: '/shell/reports' });
  return (
    <div className="report-filters not-printed">
      <AddressChips
        label={texts.kind}
        member="kind"
        values={reportKinds}
        first="summary"
        // The columns of another kind are others.
        clears={{ sort: undefined, rows: undefined }}
        content={(one) => texts.kinds[one]}
      />
      <div className="row wrap">
        <VehiclesButton chosen={chosen} among={among} />
        <GroupFilter clears={{ vehicles: undefined, rows: undefined }} />
        <Chips
          label={events.range}
          values={ranges}
          chosen={range ?? ('' as Range)}
          content={(one) => events.ranges[one]}
          onChoose={(one) => put({ range: one, from: undefined, to: undefined, rows: undefined })}
        />
        <Dates period={period} />
        {kind === 'events' ? <CodeField /> : kind === 'trips' ? <DriverField /> : null}
      </div>
    </div>
  );
}
