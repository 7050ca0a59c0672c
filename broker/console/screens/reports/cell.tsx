// One value of a report as people read it, with the way to what it is about: a trip, an event, an alarm, a cut, or a report of this vehicle.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { cutWords } from '../../../../build/words/cut.ts';
import { reportWords } from '../../../../build/words/report.ts';
import { tabWords } from '../../../../build/words/tab.ts';
import { type ColumnID, formOf, type ReportKind } from '../../../../src/core/reports/columns.ts';
import type { ReportRow, Value } from '../../../../src/core/reports/rows.ts';
import { namedValue, type TableWords } from '../../../../src/core/reports/table.ts';
import {
  amountText,
  Badge,
  iconOf,
  LongName,
  numberText,
  shareText,
  spanText,
  Time,
  withUnit,
} from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import type { WordsWith } from '../../words/word-set.ts';

/** Words of the reports, and those that they share with the trips and the cuts. */
export type CellWords = WordsWith<[typeof reportWords, typeof tabWords, typeof cutWords]>;

export const tableWordsOf = ({ reports, codes, alarms, orders, units }: CellWords): TableWords => ({
  columns: reports.columns,
  decisions: reports.decisions,
  codes,
  alarmPriorities: alarms.priorities,
  alarmStates: alarms.states,
  closeReasons: alarms.reasons,
  cutReasons: orders.enginecutoff.reasons,
  units,
});

/** A value in words and with its unit; a time is written by its element. */
export function valueText(column: ColumnID, value: Value, words: CellWords): string {
  const { units, common } = words;
  if (value === null) return common.none;
  switch (formOf(column)) {
    case 'span':
      return spanText(Number(value), words);
    case 'km':
      return amountText(Number(value), 'km', words, 1);
    case 'speed':
      return amountText(Number(value), 'kmh', words);
    case 'share':
      return shareText(Number(value), words);
    case 'litres':
      return amountText(Number(value), 'litres', words, 1);
    case 'hours':
      return withUnit(numberText(Number(value), 1), units.h);
    case 'count':
      return numberText(Number(value));
    default:
      return namedValue(column, value, tableWordsOf(words));
  }
}

/** Columns whose empty value was not reported, and not absent. */
const unknowns: ReadonlySet<ColumnID> = new Set([
  'idle',
  'fuelStart',
  'fuelEnd',
  'busDistance',
  'busFuel',
  'busHours',
  'driver',
  'place',
  'speed',
]);

/** The report of trips or stops that a sum stands for. */
const reportOfSum: Partial<Readonly<Record<ColumnID, 'trips' | 'stops'>>> = {
  trips: 'trips',
  distance: 'trips',
  driving: 'trips',
  highest: 'trips',
  fuelStart: 'trips',
  fuelEnd: 'trips',
  busDistance: 'trips',
  busFuel: 'trips',
  busHours: 'trips',
  stops: 'stops',
  standing: 'stops',
  idle: 'stops',
};

interface CellProps {
  readonly kind: ReportKind;
  readonly row: ReportRow;
  readonly column: ColumnID;
}

function Target({ kind, row, column, children }: CellProps & { readonly children: ReactNode }) {
  const { deviceID, values, about, isOpen } = row;
  const start = Number(values.start);
  const of = { to: '/vehicle/$deviceID', params: { deviceID } } as const;
  if (column === 'vehicle') return <Link {...of}>{children}</Link>;
  const report = reportOfSum[column];
  if (kind === 'summary' && report !== undefined)
    return (
      <Link
        className="plain-link figure"
        to="/reports"
        search={({ range, from, to }) => ({
          kind: report,
          vehicles: deviceID,
          ...(range === undefined ? {} : { range }),
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
          ...(column === 'highest' ? { sort: '-highest' as const } : {}),
          ...(column === 'idle' ? { sort: '-idle' as const } : {}),
        })}
      >
        {children}
      </Link>
    );
  if (column === 'start' && (kind === 'trips' || kind === 'stops')) {
    const until = isOpen ? {} : { to: Number(values.end) };
    return (
      <Link {...of} search={{ tab: 'trips', from: start, ...until }}>
        {children}
      </Link>
    );
  }
  if (kind === 'events' && column === 'start')
    return (
      <Link {...of} search={{ tab: 'events', kind: 'all', event: about, from: start }}>
        {children}
      </Link>
    );
  if (kind === 'alarms' && column === 'start')
    return (
      <Link to="/alarms" search={{ alarm: about, ...(isOpen ? {} : { show: 'closed' as const }) }}>
        {children}
      </Link>
    );
  if (kind === 'decisions' && column === 'start')
    return (
      <Link {...of} search={{ cut: about }}>
        {children}
      </Link>
    );
  return children;
}

export function Cell({ kind, row, column, value }: CellProps & { readonly value: Value }) {
  const words = useWords(reportWords, tabWords, cutWords);
  const { common, reports } = words;
  if (value === null)
    return <span className="muted">{unknowns.has(column) ? common.unknown : common.none}</span>;
  const content =
    column === 'end' && row.isOpen ? (
      reports.open
    ) : formOf(column) === 'time' ? (
      <Time at={Number(value)} />
    ) : column === 'code' ? (
      <Badge icon={iconOf(Number(value), 'activity')}>{valueText(column, value, words)}</Badge>
    ) : column === 'vehicle' ? (
      <LongName text={valueText(column, value, words)} />
    ) : (
      <bdi>{valueText(column, value, words)}</bdi>
    );
  return (
    <Target kind={kind} row={row} column={column}>
      {content}
    </Target>
  );
}
