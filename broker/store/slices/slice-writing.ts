// Statements that record the time spans of a slice, and that close one slice and open the next. New events go to the open slice,
// and their batch verifies that it still is; no insert ever creates a table.
import { ddl } from '../../../src/migrate.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { spanOf, type TimeSpan } from '../../core/events/event-spans.ts';
import { notRoutine } from '../base/routine-codes.ts';
import { numberOf } from '../base/row.ts';
import { events } from '../schema/events.ts';
import { tableOf } from './slices.ts';

/** The spans of events that were committed are remembered, so that almost no batch has anything to note. */
export interface SpanCache {
  /** What the batch with these events must note. `sliceNo`: where they go. */
  missing(
    sliceNo: number,
    arrival: { readonly receivedMs: number; readonly timestamps: readonly number[] },
  ): readonly TimeSpan[];
  /** The batch that noted them was committed. */
  learn(sliceNo: number, spans: readonly TimeSpan[]): void;
}

/** Spans that are remembered; wrong clocks alone can make so many, and then they are noted once more. */
const knownMost = 10_000;

const keyOf = ({ fromMs, toMs }: TimeSpan): string => `${fromMs} ${toMs}`;

/** The memory of one process. Another process may have noted the same: that changes nothing. */
export function createSpanCache(): SpanCache {
  const known = new Set<string>();
  let ofSlice = 0;
  return {
    missing(sliceNo, { receivedMs, timestamps }) {
      const found = new Map<string, TimeSpan>();
      let lastMs: TimeSpan | null = null;
      for (const timestampMs of timestamps) {
        // Events of one payload follow each other: mostly one comparison.
        if (lastMs !== null && timestampMs >= lastMs.fromMs && timestampMs <= lastMs.toMs) continue;
        const span = spanOf(timestampMs, receivedMs);
        lastMs = span;
        const key = keyOf(span);
        if (sliceNo !== ofSlice || !known.has(key)) found.set(key, span);
      }
      return [...found.values()];
    },
    learn(sliceNo, spans) {
      if (sliceNo !== ofSlice || known.size > knownMost) known.clear();
      ofSlice = sliceNo;
      for (const span of spans) known.add(keyOf(span));
    },
  };
}

/** Records a span of a slice, in the batch of its events. */
export function recordSpan(sliceNo: number, { fromMs, toMs }: TimeSpan): Statement {
  return sql`INSERT INTO event_spans (slice_no, from_ms, to_ms) VALUES (${sliceNo}, ${fromMs}, ${toMs})
    ON CONFLICT (slice_no, from_ms, to_ms) DO NOTHING`;
}

/** The open slice, and how many event numbers it has given. */
export async function openSlice(
  db: Database,
): Promise<{ readonly sliceNo: number; readonly taken: number; readonly openedMs: number }> {
  const [row] = await db.read(sql`SELECT s.slice_no, s.opened_ms, c.next_no - s.first_no AS taken
    FROM event_counter c JOIN event_slices s ON s.slice_no = c.slice_no WHERE c.one = 1`);
  const of = (column: string): number => (row === undefined ? 0 : numberOf(row, column));
  return { sliceNo: of('slice_no'), taken: of('taken'), openedMs: of('opened_ms') };
}

/**
 * A slice without an event begins now, so that the first one of a new database is not of an earlier week. Every event lies in
 * a span of its slice.
 */
export function dateEmptySlice(nowMs: number): Statement {
  return sql`UPDATE event_slices SET opened_ms = ${nowMs} WHERE state = 'open' AND opened_ms < ${nowMs}
    AND NOT EXISTS (SELECT 1 FROM event_spans p WHERE p.slice_no = event_slices.slice_no)`;
}

/** Names of the indexes of a slice that may be taken away before it. */
export function indexesOf(sliceNo: number): readonly string[] {
  const suffix = sliceNo === 1 ? '' : `_${sliceNo}`;
  return ['events_by_time', 'events_by_code', 'events_by_number'].map((name) => `${name}${suffix}`);
}

/** The table of a slice, as readers of every slice expect it. */
function createTable(sliceNo: number): readonly Statement[] {
  const table = tableOf(sliceNo).sql;
  const [byTime, byCode, byNumber] = indexesOf(sliceNo);
  return [
    events.createAs(table),
    ddl(`CREATE INDEX ${byTime} ON ${table} (device_no, timestamp_ms, event_no)`),
    ddl(
      `CREATE INDEX ${byCode} ON ${table} (account_no, status_code, timestamp_ms, event_no) WHERE ${notRoutine}`,
    ),
    ddl(`CREATE INDEX ${byNumber} ON ${table} (account_no, event_no) WHERE ${notRoutine}`),
  ];
}

/**
 * Closes a slice and opens the next, in one batch. A concurrent writer commits before this, or finds that its
 * slice is closed. The batch fails, with nothing changed, when another process has done it.
 * @param fromNo numbers go on here when none as high was given yet.
 */
export function openNext(sliceNo: number, atMs: number, fromNo = 0): readonly Statement[] {
  const next = sliceNo + 1;
  const nextNo = sql`(SELECT next_no FROM event_counter WHERE one = 1 AND slice_no = ${sliceNo})`;
  return [
    // Locks the counter's row first, which every batch with events changes: no such batch is under way any more.
    sql`UPDATE event_counter SET next_no = next_no WHERE one = 1 AND slice_no = ${sliceNo}`,
    sql`UPDATE event_slices SET state = 'closed', closed_ms = ${atMs}, end_no = ${nextNo}
      WHERE slice_no = ${sliceNo} AND state = 'open'`,
    sql`UPDATE event_counter SET next_no = ${fromNo}
      WHERE one = 1 AND slice_no = ${sliceNo} AND next_no < ${fromNo}`,
    // No row gives NULL, which the column refuses, and the batch with it.
    sql`INSERT INTO event_slices (slice_no, state, first_no, opened_ms) VALUES (${next}, 'open',
      ${nextNo}, ${atMs})`,
    sql`UPDATE event_counter SET slice_no = ${next} WHERE one = 1 AND slice_no = ${sliceNo}`,
    ...createTable(next),
  ];
}
