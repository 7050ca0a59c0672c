// Target slice of a commit, as cached by one process. The commit verifies it and fails when another slice is open. It must never
// be used beyond that commit.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { TimeSpan } from '../../core/events/event-spans.ts';
import { numberOf } from '../base/row.ts';
import { createSpanCache, openSlice, recordSpan } from './slice-writing.ts';
import { tableOf } from './slices.ts';

/** One commit's slice, and what the commit must note. */
export interface Target {
  readonly sliceNo: number;
  readonly spanStatements: readonly Statement[];
  readonly newSpans: readonly TimeSpan[];
  /** Other tables in which an event of one of the times may be stored already. */
  readonly others: readonly string[];
}

interface EventTimes {
  readonly receivedMs: number;
  readonly timestamps: readonly number[];
  /** Times of events that are looked for before they are stored. */
  readonly sought: readonly number[];
}

export interface SliceTarget {
  of(arrivals: EventTimes): Promise<Target>;
  /** The commit was stored. */
  keep(target: Target): void;
  /** It was not: another slice may be open. */
  forget(): void;
}

/** The slices that can hold events of these times, hidden ones too, as they may be restored. One read. */
async function tablesAt(db: Database, times: readonly number[]): Promise<readonly string[]> {
  const [first] = times;
  if (first === undefined) return [];
  const fromMs = times.reduce((least, ms) => Math.min(least, ms), first);
  const toMs = times.reduce((most, ms) => Math.max(most, ms), first);
  const rows = await db.read(sql`SELECT DISTINCT p.slice_no FROM event_spans p
    JOIN event_slices s ON s.slice_no = p.slice_no
    WHERE p.to_ms >= ${fromMs} AND p.from_ms <= ${toMs} AND s.state <> 'dropping' ORDER BY p.slice_no`);
  return rows.map((row) => tableOf(numberOf(row, 'slice_no')).sql);
}

export function createSliceTarget(db: Database): SliceTarget {
  const spans = createSpanCache();
  let known: number | null = null;
  return {
    async of({ receivedMs, timestamps, sought }) {
      known ??= (await openSlice(db)).sliceNo;
      const sliceNo = known;
      const newSpans = spans.missing(sliceNo, { receivedMs, timestamps });
      const own = tableOf(sliceNo).sql;
      const others = (await tablesAt(db, sought)).filter((table) => table !== own);
      return {
        sliceNo,
        newSpans,
        spanStatements: newSpans.map((span) => recordSpan(sliceNo, span)),
        others,
      };
    },
    keep({ sliceNo, newSpans }) {
      if (newSpans.length > 0 || sliceNo !== known) spans.learn(sliceNo, newSpans);
    },
    forget() {
      known = null;
    },
  };
}
