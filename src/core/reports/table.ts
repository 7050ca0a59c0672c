// A report as a table for programs: the lines of its CSV, the same from the console and in a mail. Pure.
import { utcText } from '../calendar.ts';
import { codeName } from '../code-name.ts';
import type { FeatureName } from '../events/event.ts';
import { type ColumnID, formOf, type ReportKind } from './columns.ts';
import { byteOrderMark, type CsvSeparator, csvOf } from './csv.ts';
import { parseReason } from './order-reason.ts';
import { type NameOf, type ReportRow, shownColumns, type Value, valueOf } from './rows.ts';

type Texts = Readonly<Record<string, string>>;

/** The words of a table in one language. */
export interface TableWords {
  readonly columns: Readonly<Record<ColumnID, string>>;
  readonly decisions: Texts;
  readonly codes: Readonly<Record<number, string>>;
  readonly alarmPriorities: Texts;
  readonly alarmStates: Texts;
  readonly closeReasons: Texts;
  readonly cutReasons: Texts;
  readonly units: Readonly<Record<'s' | 'h' | 'km' | 'kmh' | 'percent' | 'litres', string>>;
}

/** The reason of an order; empty without one. */
export function reasonName(text: string, relay: FeatureName, reasons: Texts): string {
  const { reason, note } = parseReason(text, relay);
  const name = reason === null ? '' : (reasons[reason] ?? reason);
  return [name, note].filter((part) => part !== '').join('. ');
}

const named = (texts: Texts, value: number | string): string => texts[String(value)] ?? String(value);

/** A value that is neither a number nor a time, in words. */
export function namedValue(column: ColumnID, value: number | string, words: TableWords): string {
  switch (formOf(column)) {
    case 'code':
      return codeName(Number(value), words.codes);
    case 'priority':
      return named(words.alarmPriorities, value);
    case 'alarmState':
      return named(words.alarmStates, value);
    case 'closeReason':
      return named(words.closeReasons, value);
    case 'decision':
      return named(words.decisions, value);
    case 'reason':
      return reasonName(String(value), 'enginecutoff', words.cutReasons);
    default:
      return String(value);
  }
}

/** A value for programs: times as UTC, spans in seconds, shares in percent, codes in words. */
function csvValue(column: ColumnID, value: Value, words: TableWords): number | string | null {
  if (value === null) return null;
  switch (formOf(column)) {
    case 'time':
      return utcText(Number(value));
    case 'share':
      return Math.round(Number(value) * 1000) / 10;
    case 'span':
    case 'km':
    case 'speed':
    case 'count':
    case 'litres':
    case 'hours':
      return Number(value);
    default:
      return namedValue(column, value, words);
  }
}

/** The name of a column with its unit. */
export function columnTitle(column: ColumnID, { columns, units }: TableWords): string {
  const name = columns[column];
  switch (formOf(column)) {
    case 'time':
      return `${name} (UTC)`;
    case 'span':
      return `${name} (${units.s})`;
    case 'km':
      return `${name} (${units.km})`;
    case 'speed':
      return `${name} (${units.kmh})`;
    case 'share':
      return `${name} (${units.percent})`;
    case 'litres':
      return `${name} (${units.litres})`;
    case 'hours':
      return `${name} (${units.h})`;
    default:
      return name;
  }
}

export interface ReportTable {
  readonly kind: ReportKind;
  /** In the order in which they are written. */
  readonly rows: readonly ReportRow[];
  readonly nameOf: NameOf;
}

/** All rows with the id of the vehicle before their columns, as a CSV file. */
export function csvOfReport(
  { kind, rows, nameOf }: ReportTable,
  words: TableWords,
  separator: CsvSeparator = 'comma',
): string {
  const columns = shownColumns(kind, rows);
  const lines = [
    ['deviceID', ...columns.map((column) => columnTitle(column, words))],
    ...rows.map((row) => [
      row.deviceID,
      ...columns.map((column) => csvValue(column, valueOf(row, column, nameOf), words)),
    ]),
  ];
  return byteOrderMark + csvOf(lines, separator);
}
