// The walk in the background after a start: counts and checks every row of earlier boots in short steps, and compares the
// count with the accounts. What is spoiled is taken out and counted; what is missing or misplaced leads to the salvage.
// Never holds up an append for long.
import type { Row } from '../../src/ports.ts';
import { addTally, type Tally } from '../core/outbox/outbox-account.ts';
import { bootNumberOf, seqOf } from '../core/outbox/outbox-row.ts';
import { compareCounted, judgePage } from './outbox-ledger.ts';
import { type Queue, readRows } from './outbox-queue.ts';
import { dropsOf, giveUp } from './outbox-removal.ts';
import { priorities, rows } from './outbox-schema.ts';

const walkRows = 256;
/** In the place of a class: all are done. */
const walkEnd = 4;

/** A walk over the rows below `boundary`. */
export const openWalk = (boundary: number): Queue['walk'] => ({
  priority: 0,
  at: 0,
  boundary,
  seen: new Map<number, Tally>(),
});

/** Nothing to walk: a new file, in which everything is counted as it comes. */
export const endedWalk = (): Queue['walk'] => ({ ...openWalk(0), priority: walkEnd });

export const isWalkEnded = (queue: Queue): boolean => queue.walk.priority >= walkEnd;

/** Takes spoiled rows out of the queue, counted: they can never be sent, and must not stop what is behind them. */
export async function discardSpoiled(
  queue: Queue,
  spoiled: { priority: 0 | 1 | 2 | 3; rows: readonly Row[] },
): Promise<void> {
  if (spoiled.rows.length === 0) return;
  const removals = spoiled.rows.map((row) => {
    const id = Number(row['id']);
    return { priority: spoiled.priority, range: { from: id, to: id } };
  });
  await giveUp(queue, removals, { drops: dropsOf(spoiled.priority, 'damaged', spoiled.rows) });
}

/** Counts and checks some more of what was there at the start; false when all is done. */
export async function walkStep(queue: Queue): Promise<boolean> {
  const { walk } = queue;
  const priority = priorities.find((one) => one === walk.priority);
  if (priority === undefined) return false;
  const { at, boundary, seen } = walk;
  const page = await readRows(queue, rows.after(priority, { id: at, limit: walkRows }));
  // A replacement in between started the walk anew.
  if (queue.walk !== walk) return true;
  const old = page.filter((row) => Number(row['id']) < boundary);
  const judged = await judgePage(queue, { priority, after: at, rows: old });
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
  await discardSpoiled(queue, { priority, rows: judged.spoiled });
  if (queue.walk === next && isWalkEnded(queue)) await compareCounted(queue, seen);
  return true;
}
