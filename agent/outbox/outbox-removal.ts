// Removes rows from the outbox: delivered and dropped ones. The accounts of the boots and the notes of drops change
// in the same commit. A row leaves the disk only by an acknowledgement or as a counted drop.
import type { Priority } from '../../src/core/events/status-codes.ts';
import type { Row, Statement } from '../../src/ports.ts';
import { addTally } from '../core/outbox/outbox-account.ts';
import { bootNumberOf, decodeRow, seqOf } from '../core/outbox/outbox-row.ts';
import { boots, type Drop, type DropReason, type IdRange, priorities, rows } from './file/outbox-schema.ts';
import { accountsWithout, dropStatements, recordAccounts, tallyOf } from './outbox-ledger.ts';
import { commit, isScanned, type NewRow, type Queue, readRows } from './outbox-queue.ts';

/** Splits a range where counted rows end and uncounted ones begin. */
function partsOf(queue: Queue, priority: Priority, range: IdRange): readonly IdRange[] {
  const cuts = [queue.walk.boundary - 1, priority === queue.walk.priority ? queue.walk.at : -1]
    .filter((cut) => cut >= range.from && cut < range.to)
    .sort((a, b) => a - b);
  const parts: IdRange[] = [];
  let { from } = range;
  for (const cut of cuts) {
    parts.push({ from, to: cut });
    from = cut + 1;
  }
  return [...parts, { from, to: range.to }];
}

interface Removal {
  readonly priority: Priority;
  readonly range: IdRange;
}

/** The same ranges, none of which meets another one: a number that was acknowledged twice is taken out once. */
function merged(removals: readonly Removal[]): readonly Removal[] {
  const list: Removal[] = [];
  const inOrder = removals.toSorted((a, b) => a.priority - b.priority || a.range.from - b.range.from);
  for (const { priority, range } of inOrder) {
    const last = list.at(-1);
    if (last === undefined || last.priority !== priority || range.from > last.range.to + 1)
      list.push({ priority, range });
    else
      list[list.length - 1] = {
        priority,
        range: { from: last.range.from, to: Math.max(last.range.to, range.to) },
      };
  }
  return list;
}

/** Row ids read at once when rows are to be taken out. */
const idsAtOnce = 4096;

async function idsIn(queue: Queue, { priority, range }: Removal): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let from = range.from; from <= range.to; ) {
    const page = await readRows(queue, rows.idsAfter(priority, { from, to: range.to, limit: idsAtOnce }));
    for (const row of page) ids.push(Number(row['id']));
    if (page.length < idsAtOnce) break;
    from = (ids.at(-1) ?? range.to) + 1;
  }
  return ids;
}

/**
 * Deletes ranges and writes `extra` in one commit, with the accounts of the boots; the counts follow. False, and nothing
 * done, when the file turned out damaged and was replaced: in the new one the same row ids belong to other events.
 * @param more.again rows of the ranges that go in again in the same commit.
 */
async function remove(
  queue: Queue,
  removals: readonly Removal[],
  more: { readonly extra?: readonly Statement[]; readonly again?: readonly NewRow[] } = {},
): Promise<boolean> {
  const { extra = [], again = [] } = more;
  const { database } = queue;
  const kept = new Set(again.map(({ id }) => id));
  const parts: (Removal & { readonly gone: readonly number[]; readonly count: number })[] = [];
  for (const { priority, range } of merged(removals))
    for (const part of partsOf(queue, priority, range)) {
      const ids = await idsIn(queue, { priority, range: part });
      const gone = ids.filter((id) => !kept.has(id));
      if (ids.length > 0) parts.push({ priority, range: part, gone, count: ids.length });
    }
  if (queue.database !== database) return false;
  if (parts.length + extra.length === 0) return true;
  const accounts = await accountsWithout(queue, tallyOf(parts.flatMap(({ gone }) => gone)));
  if (accounts === null || queue.database !== database) return false;
  const results = await commit(queue, () =>
    queue.database === database
      ? [
          ...parts.map(({ priority, range }) => rows.removeRange(priority, range)),
          ...again.map((row) => rows.insert(row.priority, row)),
          ...accounts.map(boots.put),
          ...extra,
        ]
      : [],
  );
  if (queue.database !== database) return false;
  recordAccounts(queue, accounts);
  for (const { priority, range, gone } of parts) recordRemoved(queue, { priority, range }, gone);
  if (parts.every(({ count }, index) => results[index]?.changes === count)) return true;
  await queue.replace('rows that were read cannot be deleted');
  return false;
}

function recordRemoved(queue: Queue, { priority, range }: Removal, gone: readonly number[]): void {
  const state = queue.classes[priority];
  for (const id of gone) state.acknowledged.delete(id);
  if (!isScanned(queue, priority, range.to)) return;
  state.count -= gone.length;
  const { seen, boundary } = queue.walk;
  for (const id of gone) {
    if (id < boundary) seen.set(bootNumberOf(id), addTally(seen.get(bootNumberOf(id)), seqOf(id), -1));
  }
}

/** How many numbers were acknowledged and not deleted yet. */
export function pendingCount(queue: Queue): number {
  const ranges = merged(queue.pending.map((range) => ({ priority: 0, range })));
  return ranges.reduce((sum, { range }) => sum + range.to - range.from + 1, 0);
}

/** Deletes what was acknowledged. After a crash before this the rows are sent again, which is harmless. */
export async function flushPending(queue: Queue): Promise<void> {
  if (queue.pending.length === 0) return;
  const ranges = queue.pending;
  await remove(
    queue,
    ranges.flatMap((range) => priorities.map((priority) => ({ priority, range }))),
  );
  queue.pending = [];
  queue.pendingRows = 0;
  for (const state of queue.classes) state.acknowledged.clear();
}

/** One note per boot about rows that are given up. */
export function dropsOf(priority: Priority, reason: DropReason, gone: readonly Row[]): readonly Drop[] {
  const byBoot = new Map<number, Row[]>();
  for (const row of gone) {
    const number = bootNumberOf(Number(row['id']));
    byBoot.set(number, [...(byBoot.get(number) ?? []), row]);
  }
  const upMsOf = (row: Row | undefined): number | null => {
    const body = row?.['body'];
    return body instanceof Uint8Array ? (decodeRow(body)?.event.upMs ?? null) : null;
  };
  return [...byBoot].map(([number, list]) => ({
    priority,
    number,
    reason,
    fromSeq: seqOf(Number(list[0]?.['id'])),
    toSeq: seqOf(Number(list.at(-1)?.['id'])),
    fromUpMs: upMsOf(list[0]),
    toUpMs: upMsOf(list.at(-1)),
    count: list.length,
  }));
}

/** Books drops in memory; their statements went into the commit that dropped the rows. */
function recordDrops(queue: Queue, list: readonly Drop[]): void {
  for (const drop of list) {
    queue.classes[drop.priority].dropped += drop.count;
    queue.log.warn('outbox_dropped', { ...drop });
  }
  if (list.length > 0) queue.hasUnreported = true;
}

/** Drops rows: counted, noted and logged, in the commit that removes them. False when the file was replaced. */
export async function dropRows(
  queue: Queue,
  removals: readonly Removal[],
  more: { readonly drops: readonly Drop[]; readonly again?: readonly NewRow[] },
): Promise<boolean> {
  const extra = await dropStatements(queue, more.drops);
  if (extra === null || !(await remove(queue, removals, { ...more, extra }))) return false;
  recordDrops(queue, more.drops);
  return true;
}
