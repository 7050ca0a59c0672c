// The background scan after a start: counts and checks every row of earlier boots in short steps, and compares the
// count with the accounts. Damaged rows are removed and counted; missing or misplaced rows lead to the salvage. Never
// delays an append for long.
import type { Row } from '../../src/ports.ts';
import { addTally, type Tally } from '../core/outbox/outbox-account.ts';
import { bootNumberOf, seqOf } from '../core/outbox/outbox-row.ts';
import { priorities, rows } from './file/outbox-schema.ts';
import { checkPage, compareCounted } from './outbox-ledger.ts';
import { type Queue, readRows } from './outbox-queue.ts';
import { dropRows, dropsOf } from './outbox-removal.ts';

const walkRows = 256;
/** In the place of a class: all are done. */
const walkEnd = 4;

/** A walk over the rows below `boundary`. */
export const startScan = (boundary: number): Queue['walk'] => ({
  priority: 0,
  at: 0,
  boundary,
  seen: new Map<number, Tally>(),
});

/** Nothing to walk: a new file, in which everything is counted as it comes. */
export const endedScan = (): Queue['walk'] => ({ ...startScan(0), priority: walkEnd });

export const isScanEnded = (queue: Queue): boolean => queue.walk.priority >= walkEnd;

/** Removes damaged rows from the queue, counted: they can never be sent, and must not block the rows behind them. */
export async function dropDamaged(
  queue: Queue,
  spoiled: { priority: 0 | 1 | 2 | 3; rows: readonly Row[] },
): Promise<void> {
  if (spoiled.rows.length === 0) return;
  const removals = spoiled.rows.map((row) => {
    const id = Number(row['id']);
    return { priority: spoiled.priority, range: { from: id, to: id } };
  });
  await dropRows(queue, removals, { drops: dropsOf(spoiled.priority, 'damaged', spoiled.rows) });
}

/** Counts and checks some more of what was there at the start; false when all is done. */
export async function scanStep(queue: Queue): Promise<boolean> {
  const { walk } = queue;
  const priority = priorities.find((one) => one === walk.priority);
  if (priority === undefined) return false;
  const { at, boundary, seen } = walk;
  const page = await readRows(queue, rows.after(priority, { id: at, limit: walkRows }));
  // A replacement in between restarted the scan.
  if (queue.walk !== walk) return true;
  const old = page.filter((row) => Number(row['id']) < boundary);
  const judged = await checkPage(queue, { priority, after: at, rows: old });
  if (judged === null || queue.walk !== walk) return true;
  queue.classes[priority].count += old.length;
  for (const row of old) {
    const id = Number(row['id']);
    seen.set(bootNumberOf(id), addTally(seen.get(bootNumberOf(id)), seqOf(id)));
  }
  const isClassDone = page.length < walkRows || old.length < page.length;
  const next = isClassDone
    ? { priority: priority + 1, at: 0, boundary, seen }
    : { priority, at: Number(old.at(-1)?.['id']), boundary, seen };
  queue.walk = next;
  await dropDamaged(queue, { priority, rows: judged.spoiled });
  if (queue.walk === next && isScanEnded(queue)) await compareCounted(queue, seen);
  return true;
}
