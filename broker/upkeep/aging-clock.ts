// The time for removals by age. A clock that is ahead makes everything old at once, so time advances here only with the process,
// and by at most a day between two processes. A larger leap waits until a vehicle's GNSS time, or a person, confirms it.
import type { Clock, Database, Log } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { numberOf } from '../store/base/row.ts';
import { moveFact, putFact, readFact, shareFact } from '../store/service-facts.ts';
import { openSlice } from '../store/slices/slice-writing.ts';
import { tableOf } from '../store/slices/slices.ts';

const factName = 'aging-ms';

/** Longest time without a run of the service that needs no confirmation. */
export const leapMostMs = 86_400_000;
/** Maximum difference between GNSS time and receipt of an event: live events are seconds old. */
const agreesMs = 600_000;
/** Of an event that was just received: less than `leapMostMs`. */
const newMs = 3_600_000;
/** Newest events that are looked at. */
const eventsExamined = 1000;

export interface AgingTime {
  /** Removals go by this; never later than the clock. */
  readonly nowMs: number;
  /** Unconfirmed lead of the clock; 0: the clock is believed. */
  readonly leapMs: number;
}

export interface AgingClock {
  read(): Promise<AgingTime>;
}

/** True when a vehicle knows the same time: the GNSS time of an event that was just received. */
async function isConfirmed(db: Database, nowMs: number): Promise<boolean> {
  const { sliceNo } = await openSlice(db);
  const rows = await db.read(sql`SELECT 1 AS there FROM (SELECT time_quality, timestamp_ms, received_ms
      FROM ${tableOf(sliceNo)} ORDER BY event_no DESC LIMIT ${eventsExamined}) e
    WHERE e.time_quality = 'gnss' AND e.received_ms BETWEEN ${nowMs - newMs} AND ${nowMs}
      AND e.timestamp_ms BETWEEN e.received_ms - ${agreesMs} AND e.received_ms + ${agreesMs} LIMIT 1`);
  return rows.length > 0;
}

/** Of a database that has no record yet: the receipt of its newest event. */
async function newestReceiptMs(db: Database): Promise<number | null> {
  const { sliceNo } = await openSlice(db);
  const [row] = await db.read(
    sql`SELECT received_ms FROM ${tableOf(sliceNo)} ORDER BY event_no DESC LIMIT 1`,
  );
  return row === undefined ? null : numberOf(row, 'received_ms');
}

/** The clock of one process; it counts from the last time that any process has recorded. */
export function createAgingClock({
  db,
  clock,
  log,
}: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}): AgingClock {
  let base = { text: '', atMonoMs: clock.monoMs() };
  const move = async (nowMs: number): Promise<void> => {
    const text = String(nowMs);
    // Another process may have recorded its own, or a person confirmed a leap: then that counts.
    await db.write([moveFact(factName, base.text, text)]);
    base = { text, atMonoMs: clock.monoMs() };
  };
  return {
    async read() {
      const clockMs = Math.round(clock.utcMs());
      const text =
        (await readFact(db, factName)) ??
        (await shareFact(db, { name: factName, value: String((await newestReceiptMs(db)) ?? clockMs) }));
      if (text !== base.text) base = { text, atMonoMs: base.text === '' ? base.atMonoMs : clock.monoMs() };
      const expectedMs = Math.round(Number(text) + clock.monoMs() - base.atMonoMs);
      const leapMs = clockMs - expectedMs;
      // Behind: nothing gets old by that, and the clock may yet be set right.
      if (clockMs < Number(text)) return { nowMs: clockMs, leapMs: 0 };
      const isBelieved = leapMs <= leapMostMs || (await isConfirmed(db, clockMs));
      const nowMs = isBelieved ? clockMs : expectedMs;
      await move(nowMs);
      if (isBelieved) return { nowMs, leapMs: 0 };
      log.error('clock_leap', {
        clock: new Date(clockMs).toISOString(),
        expected: new Date(expectedMs).toISOString(),
        hint: 'Nothing is removed by the time of this clock. Set it right; if it is right: fleetward-broker retention run --accept-clock',
      });
      return { nowMs, leapMs };
    },
  };
}

/** A person confirms the clock. */
export async function acceptClock(db: Database, clock: Clock): Promise<void> {
  await db.write([putFact(factName, String(Math.round(clock.utcMs())))]);
}
