// The rows of the reports: records of the service as values of columns, their order and their sums. Pure.
import {
  type ColumnID,
  columnOfSort,
  columnsOf,
  isDownwards,
  isOfBus,
  isSummed,
  type ReportKind,
  type Sort,
} from './columns.ts';

/** Null: not known, or there is none. */
export type Value = number | string | null;

export interface ReportRow {
  readonly id: string;
  readonly deviceID: string;
  readonly values: Partial<Readonly<Record<ColumnID, Value>>>;
  /** Its subject is not finished. */
  readonly isOpen: boolean;
  /** The event, alarm or request that it is about; empty: none. */
  readonly about: string;
}

/** Times are epoch seconds, spans seconds, distances km; null: not known. */
interface BusFigures {
  readonly busDistance: number | null;
  readonly busFuelUsed: number | null;
  readonly busEngineHours: number | null;
}

interface SummaryFigures extends BusFigures {
  readonly deviceID: string;
  readonly trips: number;
  readonly stops: number;
  readonly distance: number;
  readonly drivingTime: number;
  readonly stopTime: number;
  readonly idleTime: number | null;
  readonly maximumSpeed: number | null;
  readonly startFuelLevel: number | null;
  readonly endFuelLevel: number | null;
}

interface TripFigures extends BusFigures {
  readonly deviceID: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly drivingTime: number;
  readonly distance: number;
  readonly averageSpeed: number;
  readonly maximumSpeed: number | null;
  readonly idleTime: number | null;
  readonly startFuelLevel: number | null;
  readonly endFuelLevel: number | null;
  readonly isOpen: boolean;
}

interface StopFigures {
  readonly deviceID: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly stopTime: number;
  readonly idleTime: number | null;
  readonly latitude: number;
  readonly longitude: number;
  readonly isOpen: boolean;
}

interface AlarmFigures {
  readonly alarmID: string;
  readonly deviceID: string;
  readonly alarmState: string;
  readonly statusCode: number;
  readonly priority: string;
  readonly count: number;
  readonly owner: string;
  readonly closeReason: string;
  /** Of these 0 is never. */
  readonly opened: number;
  readonly firstTaken: number;
  readonly closed: number;
}

export type DecisionState = 'pending' | 'approved' | 'refused' | 'withdrawn' | 'expired' | 'void';

interface DecisionFigures {
  readonly approvalID: string;
  readonly deviceID: string;
  readonly approvalState: string;
  readonly requestedBy: string;
  readonly requested: number;
  readonly reason: string;
  readonly decidedBy: string;
  /** 0: it is not. */
  readonly decided: number;
  readonly decidedReason: string;
}

export const placeOf = (latitude: number, longitude: number): string =>
  `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
export const textOrNull = (text: string | undefined): string | null =>
  text === undefined || text === '' ? null : text;
const timeOrNull = (seconds: number): number | null => (seconds === 0 ? null : seconds);

export const summaryRow = (sums: SummaryFigures): ReportRow => ({
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

export const tripRow = (trip: TripFigures): ReportRow => ({
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

export const stopRow = (stop: StopFigures): ReportRow => ({
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

export const alarmRow = (alarm: AlarmFigures): ReportRow => ({
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
    owner: textOrNull(alarm.owner),
    closed: timeOrNull(alarm.closed),
    closeReason: textOrNull(alarm.closeReason),
  },
});

export const decisionRow = (request: DecisionFigures): ReportRow => ({
  id: request.approvalID,
  deviceID: request.deviceID,
  isOpen: request.approvalState === 'pending',
  about: request.approvalID,
  values: {
    start: request.requested,
    askedBy: request.requestedBy,
    reason: textOrNull(request.reason),
    decision: request.approvalState,
    decidedBy: textOrNull(request.decidedBy),
    waited: request.decided === 0 ? null : Math.max(0, request.decided - request.requested),
    note: textOrNull(request.decidedReason),
  },
});

export type NameOf = (deviceID: string) => string;

/** The value of a column; of the vehicle its name. */
export const valueOf = (row: ReportRow, column: ColumnID, nameOf: NameOf): Value =>
  column === 'vehicle' ? nameOf(row.deviceID) : (row.values[column] ?? null);

/** Unknown values come last in both directions; equal ones are in the order of their ids. */
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
