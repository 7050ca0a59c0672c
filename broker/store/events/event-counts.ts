// Counts of alerts by status code, in a scope and a span of time. The work grows with the counted events, not with the history
// before them nor with the number of codes.
import type { Database } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import { isNotRoutine } from '../base/routine-codes.ts';
import { numberOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { isUnaskedCrossing } from '../base/unasked-crossings.ts';
import { type Run, readSlice, runsWithin } from '../slices/slices.ts';
import type { KeyRange } from './event-keys.ts';

/** Span that the first read of a slice counts; each one after it is half as long or twice as long, by what was found. */
const firstPieceMs = 3_600_000;
const pieceMostMs = 7 * 24 * 3_600_000;
const pieceLeastMs = 60_000;
/** One read counts some thousand events, a few milliseconds of work. */
const fewEvents = 1000;
const manyEvents = 4000;

type CountRange = Pick<KeyRange, 'scope' | 'fromMs' | 'toMs' | 'plausibleMs'>;

interface Piece {
  readonly run: Run;
  readonly range: CountRange;
  readonly codes: readonly number[];
  /** Event time, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
}

async function countPiece(db: Database, piece: Piece, counts: Map<number, number>): Promise<number> {
  const { run, range, codes, fromMs, toMs } = piece;
  const { scope, plausibleMs } = range;
  // CROSS JOIN: SQLite then goes through the index of the codes, and never through every device of the account.
  const rows = await readSlice(
    db,
    run.sliceNo,
    sql`SELECT e.status_code, COUNT(*) AS events FROM ${run.table} e CROSS JOIN devices d
      WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${scope.accountID})
        AND e.status_code IN (${valueList(codes)}) AND ${isNotRoutine}
        AND e.timestamp_ms >= ${fromMs} AND e.timestamp_ms <= ${toMs}
        AND (e.timestamp_ms <= ${plausibleMs} OR e.received_ms >= ${range.fromMs})
        AND d.device_no = e.device_no AND ${visible(scope)} AND NOT ${isUnaskedCrossing}
      GROUP BY e.status_code`,
  );
  let found = 0;
  for (const row of rows) {
    const [code, events] = [numberOf(row, 'status_code'), numberOf(row, 'events')];
    counts.set(code, (counts.get(code) ?? 0) + events);
    found += events;
  }
  return found;
}

/**
 * Events by status code, without geozone crossings that no alert was requested for; codes without events are absent.
 * @param codes none of which may be routine; at least one.
 */
export async function countByCode(
  db: Database,
  range: CountRange,
  codes: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  for (const run of await runsWithin(db, range)) {
    // The implausible times are few, and counted with the last span.
    const lastMs = Math.max(run.fromMs, Math.min(run.toMs, range.plausibleMs));
    let widthMs = firstPieceMs;
    for (let fromMs = run.fromMs; fromMs <= lastMs; ) {
      const endMs = fromMs + widthMs - 1;
      const toMs = endMs >= lastMs ? run.toMs : endMs;
      const found = await countPiece(db, { run, range, codes, fromMs, toMs }, counts);
      if (found < fewEvents) widthMs = Math.min(pieceMostMs, widthMs * 2);
      if (found > manyEvents) widthMs = Math.max(pieceLeastMs, widthMs / 2);
      fromMs = endMs + 1;
    }
  }
  return counts;
}
