// Trips and stops of whole UTC days that were found before. What ends on a day, and the state of `core/events/trips.ts` after it, depend on the
// state before it and on the events of that day alone. So a row holds both for one state, and is valid while the day has the same events: a
// report that gets there in that state goes on behind the day, and finds exactly what it would have read.
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { dayMs } from '../../../src/core/durations.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { TripOrStop } from '../../core/events/trip-way.ts';
import { startTrips, stepAll, type TripState, tripRules } from '../../core/events/trips.ts';
import { numberOf, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { deviceRef, type Infer, shape } from '../base/table.ts';
import { tripDays } from '../schema/events.ts';
import { readSlice, runsWithin } from '../slices/slices.ts';
import type { DeviceOf } from './events.ts';
import { numberedTripEvents, type TrackSpan } from './trip-events.ts';

export type TripDay = Infer<typeof tripDays>;

/** Reports begin to read at the start of such a block of days, so that few different states reach a day. */
const blockDays = 4;

/** The first day of the next block. */
export const nextBlock = (day: number): number => blockStart(day) + blockDays;

/** The first day of the block that the day is in. */
export function blockStart(day: number): number {
  return Math.floor(day / blockDays) * blockDays;
}

/** What a report goes on from: a state and its name. */
type Reached = Pick<TripDay, 'toKey' | 'state'>;

/** Names a state and the rules that made it. */
export function keyOf(state: TripState): string {
  return createHash('sha256')
    .update(`${tripRules} ${JSON.stringify(state)}`)
    .digest('base64url');
}

const reachedWith = (state: TripState): Reached => ({
  toKey: keyOf(state),
  state: deflateRawSync(JSON.stringify(state)),
});

export const stateOf = ({ state }: Reached): TripState =>
  JSON.parse(inflateRawSync(state).toString()) as TripState;
export const itemsOf = ({ items }: TripDay): readonly TripOrStop[] =>
  JSON.parse(items) as readonly TripOrStop[];

/** Before the first event that a report reads. */
export const beforeAll = reachedWith(startTrips);

/** Events of a day, and the highest number of them. */
interface DayEvents {
  readonly day: number;
  readonly events: number;
  readonly lastNo: number;
}

/** Numbers of events only grow, so a day of as many events up to the same number has the same events. */
const proofOf = ({ events, lastNo }: Omit<DayEvents, 'day'>): string => `${events} ${lastNo}`;

/** Proofs of the days that have events, in the order of days, for a span of whole days. From the index by time alone. */
export async function dayProofs(db: Database, span: TrackSpan): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, DayEvents>();
  for (const run of await runsWithin(db, span)) {
    const [first, last] = [Math.floor(run.fromMs / dayMs), Math.floor(run.toMs / dayMs)];
    const ofDay = sql`${run.table} e WHERE e.device_no = d.device_no
      AND e.timestamp_ms >= n.day * CAST(${dayMs} AS BIGINT) AND e.timestamp_ms < (n.day + 1) * CAST(${dayMs} AS BIGINT)
      AND e.timestamp_ms >= ${run.fromMs} AND e.timestamp_ms <= ${run.toMs}`;
    const rows = await readSlice(
      db,
      run.sliceNo,
      sql`WITH RECURSIVE n (day) AS (SELECT CAST(${first} AS BIGINT) UNION ALL SELECT day + 1 FROM n WHERE day < ${last})
        SELECT n.day, (SELECT COUNT(*) || ' ' || COALESCE(MAX(e.event_no), 0) FROM ${ofDay}) AS counted
        FROM devices d CROSS JOIN n WHERE ${visible(span.scope)} AND d.device_id = ${span.deviceID}`,
    );
    for (const row of rows) {
      const [events = 0, lastNo = 0] = textOf(row, 'counted').split(' ').map(Number);
      const day = numberOf(row, 'day');
      const known = found.get(day) ?? { day, events: 0, lastNo: 0 };
      if (events > 0)
        found.set(day, { day, events: known.events + events, lastNo: Math.max(known.lastNo, lastNo) });
    }
  }
  const days = [...found.values()].toSorted((one, other) => one.day - other.day);
  return new Map(days.map((one) => [one.day, proofOf(one)]));
}

/** Rows of a device, valid or not, in the order of days. */
export function tripDaysBetween(
  db: Database,
  { scope, deviceID }: DeviceOf,
  [first, last]: readonly [number, number],
): Promise<readonly TripDay[]> {
  return tripDays.all(db)(sql`SELECT t.* FROM devices d JOIN trip_days t ON t.device_no = d.device_no
    WHERE ${visible(scope)} AND d.device_id = ${deviceID} AND t.day >= ${first} AND t.day <= ${last} ORDER BY t.day`);
}

/** The valid rows of days that lie in the span as a whole, day by day, in order. */
export async function storedDays(
  db: Database,
  span: TrackSpan,
): Promise<ReadonlyMap<number, readonly TripDay[]>> {
  const days = [Math.ceil(span.fromMs / dayMs), Math.floor((span.toMs + 1) / dayMs) - 1] as const;
  const rows = await tripDaysBetween(db, span, days);
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return new Map();
  const spanMs = { fromMs: first.day * dayMs, toMs: (last.day + 1) * dayMs - 1 };
  const proofs = await dayProofs(db, { ...span, ...spanMs });
  const found = new Map<number, TripDay[]>();
  for (const row of rows)
    if (proofs.get(row.day) === row.proof) found.set(row.day, [...(found.get(row.day) ?? []), row]);
  return found;
}

/** Reads a day that begins in the state at the end of `before`. */
export async function readTripDay(
  db: Database,
  device: DeviceOf & Pick<TripDay, 'deviceNo' | 'day'>,
  before: Reached,
): Promise<TripDay> {
  const { scope, deviceID, deviceNo, day } = device;
  const found: TripOrStop[] = [];
  let state = stateOf(before);
  let [events, lastNo] = [0, 0];
  const span = { scope, deviceID, fromMs: day * dayMs, toMs: (day + 1) * dayMs - 1 };
  for await (const page of numberedTripEvents(db, span)) {
    events += page.length;
    const step = stepAll(
      state,
      page.map(({ event }) => event),
    );
    state = step.state;
    found.push(...step.ended);
    for (const { eventNo } of page) lastNo = Math.max(lastNo, eventNo);
  }
  const proof = proofOf({ events, lastNo });
  return { deviceNo, day, fromKey: before.toKey, proof, items: JSON.stringify(found), ...reachedWith(state) };
}

/** Stores it, unless the device was deleted or the same is stored. */
export function putTripDay({ deviceNo, day, fromKey, toKey, proof, items, state }: TripDay): Statement {
  return sql`INSERT INTO trip_days (device_no, day, from_key, to_key, proof, items, state)
    SELECT d.device_no, CAST(${day} AS INTEGER), ${fromKey}, ${toKey}, ${proof}, ${items}, ${state}
    FROM devices d WHERE d.device_no = ${deviceNo}
    ON CONFLICT (device_no, day, from_key) DO UPDATE SET to_key = excluded.to_key, proof = excluded.proof,
      items = excluded.items, state = excluded.state WHERE trip_days.proof <> excluded.proof`;
}

export function dropTripDay({ deviceNo, day, fromKey, proof }: TripDay): Statement {
  return sql`DELETE FROM trip_days WHERE device_no = ${deviceNo} AND day = ${day} AND from_key = ${fromKey}
    AND proof = ${proof}`;
}

const device = shape(deviceRef);
export type NumberedDevice = Infer<typeof device>;

/** The device with the next higher number; null: there is none. */
export function deviceAfter(db: Database, afterNo: number): Promise<NumberedDevice | null> {
  return device.first(db)(sql`SELECT device_no, account_id, device_id FROM devices
    WHERE device_no > ${afterNo} ORDER BY device_no LIMIT 1`);
}
