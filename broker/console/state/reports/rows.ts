// The rows of reports that the console alone has, and the bars of every report: one for each day or vehicle. Pure.
import { dateOfNumber, dayNumberOf } from '../../../../src/core/calendar.ts';
import { hourS } from '../../../../src/core/durations.ts';
import { type ColumnID, drawnOf, formOf, type ReportKind } from '../../../../src/core/reports/columns.ts';
import {
  placeOf,
  type ReportRow,
  decisionRow as sharedRow,
  textOrNull,
  type Value,
} from '../../../../src/core/reports/rows.ts';
import { dateAt, momentOf } from '../../../../src/core/zoned-time.ts';
import type { Approval, EventRecord } from '../../api/operations.ts';
import { cutText } from '../orders/cut-view.ts';

/** A request with its cut as addresses name it. */
export const decisionRow = (request: Approval): ReportRow => ({
  ...sharedRow(request),
  about:
    request.commandID === '' ? cutText('request', request.approvalID) : cutText('command', request.commandID),
});

export const eventRow = (given: EventRecord): ReportRow => {
  // Without `fields` every member is there.
  const event = given as Required<EventRecord>;
  const { latitude, longitude, isPositionValid, timestamp } = event;
  return {
    id: `${event.deviceID} ${event.eventID}`,
    deviceID: event.deviceID,
    isOpen: false,
    about: event.eventID,
    values: {
      start: timestamp,
      code: event.statusCode,
      zone: textOrNull(event.geozoneDisplayName || event.geozoneID),
      speed: isPositionValid ? event.speed : null,
      late: Math.max(0, event.creationTime - timestamp),
      place: isPositionValid ? placeOf(latitude, longitude) : null,
    },
  };
};

/** Bars of a report, one for each day or vehicle: what is drawn of each, in hours, kilometres or rows. */
export interface Bars {
  /** Days as epoch seconds of their start, or ids of vehicles. */
  readonly places: readonly (number | string)[];
  readonly series: readonly { readonly column: ColumnID | null; readonly values: readonly number[] }[];
}

/** Bars at most: more of them would be narrower than a few pixels. */
const barsMost = 366;
const vehicleBarsMost = 30;

const drawn = (value: Value | undefined, column: ColumnID): number =>
  typeof value !== 'number' ? 0 : formOf(column) === 'span' ? value / hourS : value;

/** @param rows in the order of the table; of the summary the first 30 vehicles are drawn. @param zone whose days are drawn, IANA name. */
export function barsOf(kind: ReportKind, rows: readonly ReportRow[], zone: string): Bars {
  const columns = drawnOf[kind];
  if (kind === 'summary') {
    const shown = rows.slice(0, vehicleBarsMost);
    return {
      places: shown.map(({ deviceID }) => deviceID),
      series: columns.map((column) => ({
        column,
        values: shown.map(({ values }) => drawn(values[column], column)),
      })),
    };
  }
  const days = new Map<number, ReportRow[]>();
  for (const row of rows) {
    const day = dayNumberOf(dateAt(zone, Number(row.values.start) * 1000));
    const known = days.get(day);
    if (known === undefined) days.set(day, [row]);
    else known.push(row);
  }
  const shown: number[] = [];
  const last = Math.max(...days.keys());
  for (let day = Math.min(...days.keys()); day <= last && shown.length < barsMost; day += 1) shown.push(day);
  const sums = (column: ColumnID): readonly number[] =>
    shown.map((day) =>
      (days.get(day) ?? []).reduce((sum, { values }) => sum + drawn(values[column], column), 0),
    );
  const counts = { column: null, values: shown.map((day) => days.get(day)?.length ?? 0) };
  return {
    places: shown.map((day) => momentOf(zone, dateOfNumber(day), 0) / 1000),
    series: columns.length === 0 ? [counts] : columns.map((column) => ({ column, values: sums(column) })),
  };
}
