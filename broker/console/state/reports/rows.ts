// The rows of the reports: what the service answered as values of columns, their order, their sums, and their days. Pure.
import type { Alarm, Approval, EventRecord, Result, Stop, Trip } from '../../api/operations.ts';
import { cutText } from '../cut-view.ts';
import {
  type ColumnID,
  columnOfSort,
  columnsOf,
  drawnOf,
  formOf,
  isDownwards,
  isOfBus,
  isSummed,
  type Sort,
} from './columns.ts';
import type { ReportKind } from './report-view.ts';

/** Null: not known, or there is none. */
export type Value = number | string | null;

export interface ReportRow {
  readonly id: string;
  readonly deviceID: string;
  readonly values: Partial<Readonly<Record<ColumnID, Value>>>;
  /** What it shows goes on. */
  readonly isOpen: boolean;
  /** The event or alarm that it is about, or the cut as addresses name it; empty: none. */
  readonly about: string;
}

type Summary = Result<'reportSummary'>['devices'][number];

const placeOf = (latitude: number, longitude: number): string =>
  `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
const orNull = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);
const timeOrNull = (seconds: number): number | null => (seconds === 0 ? null : seconds);

export const summaryRow = (sums: Summary): ReportRow => ({
  id: sums.deviceID,
  deviceID: sums.deviceID,
  isOpen: false,
  about: '',
  values: {
    trips: sums.trips,
    stops: sums.stops,
    distance: sums.distance,
    driving: sums.drivingTime,
    standing: sums.stopTime,
    idle: sums.idleTime,
    highest: sums.trips === 0 ? null : sums.maximumSpeed,
    fuelStart: sums.startFuelLevel,
    fuelEnd: sums.endFuelLevel,
    busDistance: sums.busDistance,
    busFuel: sums.busFuelUsed,
    busHours: sums.busEngineHours,
  },
});

export const tripRow = (trip: Trip): ReportRow => ({
  id: `${trip.deviceID} ${trip.startTime}`,
  deviceID: trip.deviceID,
  isOpen: trip.isOpen,
  about: '',
  values: {
    start: trip.startTime,
    end: trip.endTime,
    driving: trip.drivingTime,
    distance: trip.distance,
    average: trip.averageSpeed,
    highest: trip.maximumSpeed,
    idle: trip.idleTime,
    fuelStart: trip.startFuelLevel,
    fuelEnd: trip.endFuelLevel,
    busDistance: trip.busDistance,
    busFuel: trip.busFuelUsed,
    busHours: trip.busEngineHours,
  },
});

export const stopRow = (stop: Stop): ReportRow => ({
  id: `${stop.deviceID} ${stop.startTime}`,
  deviceID: stop.deviceID,
  isOpen: stop.isOpen,
  about: '',
  values: {
    start: stop.startTime,
    end: stop.endTime,
    standing: stop.stopTime,
    idle: stop.idleTime,
    place: placeOf(stop.latitude, stop.longitude),
  },
});

export const alarmRow = (alarm: Alarm): ReportRow => ({
  id: alarm.alarmID,
  deviceID: alarm.deviceID,
  isOpen: alarm.alarmState !== 'closed',
  about: alarm.alarmID,
  values: {
    start: alarm.opened,
    code: alarm.statusCode,
    priority: alarm.priority,
    count: alarm.count,
    state: alarm.alarmState,
    untaken: alarm.firstTaken === 0 ? null : Math.max(0, alarm.firstTaken - alarm.opened),
    owner: orNull(alarm.owner),
    closed: timeOrNull(alarm.closed),
    closeReason: orNull(alarm.closeReason),
  },
});

export const decisionRow = (request: Approval): ReportRow => ({
  id: request.approvalID,
  deviceID: request.deviceID,
  isOpen: request.approvalState === 'pending',
  about:
    request.commandID === '' ? cutText('request', request.approvalID) : cutText('command', request.commandID),
  values: {
    start: request.requested,
    askedBy: request.requestedBy,
    reason: orNull(request.reason),
    decision: request.approvalState,
    decidedBy: orNull(request.decidedBy),
    waited: request.decided === 0 ? null : Math.max(0, request.decided - request.requested),
    note: orNull(request.decidedReason),
  },
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
      zone: orNull(event.geozoneDisplayName || event.geozoneID),
      speed: isPositionValid ? event.speed : null,
      late: Math.max(0, event.creationTime - timestamp),
      place: isPositionValid ? placeOf(latitude, longitude) : null,
    },
  };
};

export type NameOf = (deviceID: string) => string;

/** The value of a column; of the vehicle its name. */
export const valueOf = (row: ReportRow, column: ColumnID, nameOf: NameOf): Value =>
  column === 'vehicle' ? nameOf(row.deviceID) : (row.values[column] ?? null);

/** What is not known comes last in both directions; equal ones stand in the order of their ids. */
export function sortRows(rows: readonly ReportRow[], sort: Sort, nameOf: NameOf): readonly ReportRow[] {
  const column = columnOfSort(sort);
  const sign = isDownwards(sort) ? -1 : 1;
  const compare = (one: Value, other: Value): number => {
    if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
    return (one < other ? -1 : one > other ? 1 : 0) * sign;
  };
  return rows
    .map((row) => ({ row, value: valueOf(row, column, nameOf) }))
    .toSorted((one, other) => compare(one.value, other.value) || (one.row.id < other.row.id ? -1 : 1))
    .map(({ row }) => row);
}

/** The columns of a report; those of the vehicle bus only where a vehicle has one. */
export const shownColumns = (kind: ReportKind, rows: readonly ReportRow[]): readonly ColumnID[] =>
  columnsOf[kind].filter(
    (column) => !isOfBus(column) || rows.some(({ values }) => typeof values[column] === 'number'),
  );

/** The sum of a column; null where it has none, or where a row does not know its part. */
export function sumOf(rows: readonly ReportRow[], column: ColumnID): number | null {
  if (!isSummed(column)) return null;
  let sum = 0;
  for (const { values } of rows) {
    const value = values[column];
    if (typeof value !== 'number') return null;
    sum += value;
  }
  return sum;
}

/** Bars of a report, one for each day or vehicle: what is drawn of each, in hours, kilometres or rows. */
export interface Bars {
  /** Days as epoch seconds of their start, or ids of vehicles. */
  readonly places: readonly (number | string)[];
  readonly series: readonly { readonly column: ColumnID | null; readonly values: readonly number[] }[];
}

/** Bars at most: more of them would be narrower than a few pixels. */
const barsMost = 366;
const vehicleBarsMost = 30;
const hourS = 3600;

const drawn = (value: Value | undefined, column: ColumnID): number =>
  typeof value !== 'number' ? 0 : formOf(column) === 'span' ? value / hourS : value;

/** The start of the day of a moment, in this computer's zone, epoch seconds. */
function dayOf(seconds: number): number {
  const at = new Date(seconds * 1000);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime() / 1000;
}

function nextDay(day: number): number {
  const at = new Date(day * 1000);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1).getTime() / 1000;
}

/** @param rows in the order of the table; of the summary the first 30 vehicles are drawn. */
export function barsOf(kind: ReportKind, rows: readonly ReportRow[]): Bars {
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
    const day = dayOf(Number(row.values.start));
    const known = days.get(day);
    if (known === undefined) days.set(day, [row]);
    else known.push(row);
  }
  const places: number[] = [];
  const last = Math.max(...days.keys());
  for (let day = Math.min(...days.keys()); day <= last && places.length < barsMost; day = nextDay(day))
    places.push(day);
  const sums = (column: ColumnID): readonly number[] =>
    places.map((day) =>
      (days.get(day) ?? []).reduce((sum, { values }) => sum + drawn(values[column], column), 0),
    );
  const counts = { column: null, values: places.map((day) => days.get(day)?.length ?? 0) };
  return {
    places,
    series: columns.length === 0 ? [counts] : columns.map((column) => ({ column, values: sums(column) })),
  };
}
