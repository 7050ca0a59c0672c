// Where the events of a commit go, as one process believes it: the commit itself proves it, and is refused when another slice
// is open by now. It must never be trusted beyond the commit that names it.
import type { Database, Statement } from '../../src/ports.ts';
import type { TimeSpan } from '../core/event-spans.ts';
import { createSpanNotes, noteSpan, openSlice } from './slice-writing.ts';
import { runsWithin, tableOf } from './slices.ts';

/** One commit's slice, and what the commit must note. */
export interface Target {
  readonly sliceNo: number;
  readonly notes: readonly Statement[];
  readonly unnoted: readonly TimeSpan[];
  /** The tables in which an event of one of the times may stand already, besides its own. */
  readonly others: readonly string[];
}

interface Arrivals {
  readonly receivedMs: number;
  readonly timestamps: readonly number[];
  /** Times of events that are looked for before they are stored. */
  readonly sought: readonly number[];
}

export interface SliceTarget {
  of(arrivals: Arrivals): Promise<Target>;
  /** The commit was stored. */
  keep(target: Target): void;
  /** It was not: another slice may be open. */
  forget(): void;
}

async function tablesAt(db: Database, times: readonly number[]): Promise<readonly string[]> {
  const tables = new Set<string>();
  for (const ms of new Set(times))
    for (const { table } of await runsWithin(db, { fromMs: ms, toMs: ms })) tables.add(table.sql);
  return [...tables];
}

export function createSliceTarget(db: Database): SliceTarget {
  const spans = createSpanNotes();
  let known: number | null = null;
  return {
    async of({ receivedMs, timestamps, sought }) {
      known ??= (await openSlice(db)).sliceNo;
      const sliceNo = known;
      const unnoted = spans.missing(sliceNo, { receivedMs, timestamps });
      const own = tableOf(sliceNo).sql;
      const others = (await tablesAt(db, sought)).filter((table) => table !== own);
      return { sliceNo, unnoted, notes: unnoted.map((span) => noteSpan(sliceNo, span)), others };
    },
    keep({ sliceNo, unnoted }) {
      if (unnoted.length > 0 || sliceNo !== known) spans.learn(sliceNo, unnoted);
    },
    forget() {
      known = null;
    },
  };
}
