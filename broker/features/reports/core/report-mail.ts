// A report as a mail: subject, plain text with a short table and totals, and its CSV file. Pure. Texts from users and vehicles are data:
// each stands in one line and cannot end a header.
import { dateText } from '../../../../src/core/calendar.ts';
import { type ColumnID, firstSort, formOf, isNumeric } from '../../../../src/core/reports/columns.ts';
import { type ReportRow, shownColumns, sortRows, sumOf, valueOf } from '../../../../src/core/reports/rows.ts';
import { csvOfReport, namedValue } from '../../../../src/core/reports/table.ts';
import { oneLine } from '../../../core/notifications/notice-mail.ts';
import { type DatedPeriod, momentText } from '../../../core/reports/due-times.ts';
import {
  type CutReason,
  type MailedKind,
  type ScheduleDefinition,
  scheduleLimits,
} from './report-schedule.ts';
import { type ReportWords, reportWords } from './report-words.ts';

/** What was read for a schedule. */
export interface ReadReport {
  readonly rows: readonly ReportRow[];
  /** There are more rows than a report may have. */
  readonly isCapped: boolean;
  /** Vehicles that it is about: id -> name. */
  readonly names: ReadonlyMap<string, string>;
}

export interface ReportMailOf {
  readonly accountID: string;
  readonly scheduleID: string;
  readonly owner: string;
  readonly definition: ScheduleDefinition;
  readonly period: DatedPeriod;
  readonly report: ReadReport;
  /** Asked for by a person, to see what comes. */
  readonly isAsked: boolean;
  readonly readMs: number;
  /** Address of the console, with `/` at the end; empty: not known. */
  readonly consoleUrl: string;
}

export interface ReportMail {
  readonly subject: string;
  readonly text: string;
  readonly fileName: string;
  /** Empty: no file is attached. */
  readonly csv: string;
  readonly cut: CutReason;
  readonly rows: number;
}

/** Columns of the short table; the file has all. */
const shortColumns: Readonly<Record<MailedKind, readonly ColumnID[]>> = {
  summary: ['vehicle', 'trips', 'distance', 'driving', 'idle', 'fuelEnd'],
  trips: ['start', 'vehicle', 'driving', 'distance', 'idle'],
  stops: ['start', 'vehicle', 'standing', 'idle'],
  alarms: ['start', 'vehicle', 'code', 'priority', 'state'],
  decisions: ['start', 'vehicle', 'askedBy', 'decision', 'decidedBy'],
};

const shortRows = 20;
const cellMost = 28;
const mebibyte = 1024 * 1024;

const numberText = (value: number, locale: string, digits: number): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);

/** `12:05`, hours and minutes: the same in every language. */
function spanText(seconds: number): string {
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`;
}

interface Writing {
  readonly words: ReportWords;
  readonly timeZone: string;
}

/** A value for people, without its unit. */
function cellText(column: ColumnID, value: number | string | null, { words, timeZone }: Writing): string {
  if (value === null) return '-';
  const { locale } = words.mail;
  switch (formOf(column)) {
    case 'time':
      return momentText(timeZone, Number(value) * 1000);
    case 'span':
      return spanText(Number(value));
    case 'share':
      return numberText(Number(value) * 100, locale, 0);
    case 'km':
    case 'litres':
    case 'hours':
      return numberText(Number(value), locale, 1);
    case 'speed':
    case 'count':
      return numberText(Number(value), locale, 0);
    default:
      return oneLine(namedValue(column, value, words.table));
  }
}

function unitText(column: ColumnID, { table }: ReportWords): string {
  const { units } = table;
  switch (formOf(column)) {
    case 'span':
      return `${units.h}:min`;
    case 'km':
      return units.km;
    case 'share':
      return units.percent;
    case 'litres':
      return units.litres;
    case 'hours':
      return units.h;
    default:
      return '';
  }
}

const headText = (column: ColumnID, words: ReportWords): string => {
  const unit = unitText(column, words);
  return unit === '' ? words.table.columns[column] : `${words.table.columns[column]} (${unit})`;
};

const shorten = (text: string): string => {
  const letters = Array.from(text);
  return letters.length <= cellMost ? text : `${letters.slice(0, cellMost - 1).join('')}…`;
};

/** Columns side by side; numbers stand at the right. */
function tableText(columns: readonly ColumnID[], lines: readonly (readonly string[])[]): readonly string[] {
  const cells = lines.map((line) => line.map(shorten));
  const widths = columns.map((_column, at) =>
    Math.max(...cells.map((line) => Array.from(line[at] ?? '').length)),
  );
  return cells.map((line) =>
    line
      .map((cell, at) => {
        const fill = ' '.repeat((widths[at] ?? 0) - Array.from(cell).length);
        const column = columns[at];
        return column !== undefined && isNumeric(column) ? `${fill}${cell}` : `${cell}${fill}`;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** The address at which the console shows the same report. */
function addressOf({ definition, period, report, consoleUrl }: ReportMailOf): string {
  const { kind, devices, groups } = definition;
  const isFleet = devices.length === 0 && groups.length === 0;
  const ids = [...report.names.keys()];
  const query = new URLSearchParams({ kind, from: String(period.fromS), to: String(period.toS) });
  // An address of the console names at most 50 vehicles.
  if (!isFleet && ids.length <= scheduleLimits.devices) query.set('vehicles', ids.join());
  return `${consoleUrl}reports?${query.toString()}`;
}

function totalsOf(rows: readonly ReportRow[], kind: MailedKind, writing: Writing): readonly string[] {
  if (rows.length < 2) return [];
  const { words } = writing;
  return shownColumns(kind, rows).flatMap((column) => {
    const sum = sumOf(rows, column);
    if (sum === null) return [];
    return [`  ${headText(column, words)}${words.mail.colon}${cellText(column, sum, writing)}`];
  });
}

function bodyOf(of: ReportMailOf, sorted: readonly ReportRow[], cut: CutReason): readonly string[] {
  const { definition, report } = of;
  const { kind } = definition;
  const words = reportWords[definition.language];
  const { mail } = words;
  const writing = { words, timeZone: definition.recurrence.timeZone };
  if (cut === 'rows') return [mail.tooManyRows({ most: numberText(scheduleLimits.rows, mail.locale, 0) })];
  if (sorted.length === 0) return [mail.empty];
  const nameOf = (id: string): string => report.names.get(id) ?? id;
  const columns = shortColumns[kind];
  const shown = sorted.slice(0, shortRows);
  const lines = [
    columns.map((column) => headText(column, words)),
    ...shown.map((row) => columns.map((column) => cellText(column, valueOf(row, column, nameOf), writing))),
  ];
  const left = sorted.length - shown.length;
  const totals = totalsOf(sorted, kind, writing);
  return [
    ...tableText(columns, lines),
    ...(left === 0 ? [] : [mail.further({ count: numberText(left, mail.locale, 0) })]),
    ...(totals.length === 0 ? [] : ['', `${mail.total}${mail.colon}`.trimEnd(), ...totals]),
  ];
}

function vehiclesOf({ definition, report, owner }: ReportMailOf, { mail }: ReportWords): string {
  const count = numberText(report.names.size, mail.locale, 0);
  const isFleet = definition.devices.length === 0 && definition.groups.length === 0;
  if (isFleet) return mail.allOf({ owner: oneLine(owner), count });
  const named = [...report.names.values()].slice(0, 3).map(oneLine).join(', ');
  return report.names.size > 3 ? `${named}, … (${count})` : named;
}

/** The mail of a report. */
export function mailOfReport(of: ReportMailOf): ReportMail {
  const { definition, period, report, accountID, scheduleID, owner } = of;
  const { kind } = definition;
  const words = reportWords[definition.language];
  const { mail } = words;
  const nameOf = (id: string): string => report.names.get(id) ?? id;
  const rows = sortRows(report.rows, firstSort(kind), nameOf);
  const whole = report.isCapped ? '' : csvOfReport({ kind, rows, nameOf }, words.table);
  const isTooLarge = new TextEncoder().encode(whole).length > scheduleLimits.fileBytes;
  const cut: CutReason = report.isCapped ? 'rows' : isTooLarge ? 'bytes' : '';
  const [first, last] = [dateText(period.first), dateText(period.last)];
  const fileName = `${kind}_${first}_${last}.csv`;
  const title = `${words.kinds[kind]}${mail.colon}${oneLine(definition.displayName)}`;
  const dates = first === last ? first : `${first} – ${last}`;
  const { timeZone } = definition.recurrence;
  const whereFrom = of.consoleUrl === '' ? mail.atPage : mail.atUrl({ url: addressOf(of) });
  const files =
    cut === ''
      ? [mail.attached({ file: fileName })]
      : [
          ...(cut === 'bytes'
            ? [mail.tooLarge({ mebibytes: numberText(scheduleLimits.fileBytes / mebibyte, mail.locale, 0) })]
            : []),
          whereFrom,
          mail.shorter,
        ];
  const count = report.isCapped
    ? `> ${numberText(scheduleLimits.rows, mail.locale, 0)}`
    : numberText(rows.length, mail.locale, 0);
  const lines = [
    title,
    '',
    `${mail.account}${mail.colon}${accountID}`,
    `${mail.period}${mail.colon}${dates} (${timeZone})`,
    `${mail.vehicles}${mail.colon}${vehiclesOf(of, words)}`,
    `${mail.rows}${mail.colon}${count}`,
    `${mail.read}${mail.colon}${momentText(timeZone, of.readMs)}`,
    '',
    ...bodyOf(of, rows, cut),
    '',
    ...files,
    '',
    mail.why({ owner: oneLine(owner), schedule: scheduleID, account: accountID }),
  ];
  return {
    subject: `${of.isAsked ? `[${mail.test}] ` : ''}${title}, ${dates}`,
    text: `${lines.join('\n')}\n`,
    fileName,
    csv: cut === '' ? whole : '',
    cut,
    rows: rows.length,
  };
}
