// Space in the outbox: rows are inserted only after space was made for them, and rows dropped for that are counted in
// the same commit. Keeps the cap on its own file, and handles a disk that others filled. Never drops an urgent event
// while any other is left.
import { AppError, causeCodeOf } from '../../src/core/errors.ts';
import type { Priority } from '../../src/core/events/status-codes.ts';
import type { Row, Statement } from '../../src/ports.ts';
import { nextEviction, thin } from '../core/outbox/eviction.ts';
import { pageBytes } from '../core/outbox/page-carving.ts';
import { emptyLog, spaceOf } from './file/outbox-file.ts';
import { allocateReserve, freeReserve } from './file/outbox-reserve.ts';
import { type BootRow, boots, priorities, rows } from './file/outbox-schema.ts';
import { accountsWith, anchorOf, recordAccounts } from './outbox-ledger.ts';
import { commit, type NewRow, type Queue, readRows, recordInserted } from './outbox-queue.ts';
import { dropRows, dropsOf, flushPending } from './outbox-removal.ts';

/**
 * Statements of a commit beside its rows: computed once space was made for them, since that may change the content,
 * and recomputed when the file had to be replaced in between.
 */
export type Extra = () => Promise<() => readonly Statement[]>;

/** Commits new rows with `extra` in one transaction, after making space; evicts again if that overshot. */
export async function insert(queue: Queue, make: () => readonly NewRow[], extra: Extra): Promise<void> {
  const bytes = make().reduce((sum, row) => sum + row.body.length + 16, 0);
  const pages = Math.ceil((bytes * 1.3) / pageBytes) + 8;
  await freePages(queue, pages);
  const urgent = make().some((row) => row.priority === 0) || make().length === 0;
  const anchor: { row: BootRow | null } = { row: null };
  for (let attempt = 0; ; attempt++) {
    try {
      const more = await extra();
      await commit(queue, () => {
        anchor.row = anchorOf(queue, make());
        const account = anchor.row === null ? [] : [boots.put(anchor.row)];
        return [...make().map((row) => rows.insert(row.priority, row)), ...account, ...more()];
      });
      break;
    } catch (thrown) {
      queue.isInDoubt = true;
      if (causeCodeOf(thrown) !== 'SQLITE_FULL' || attempt >= 16 || !(await relieve(queue, urgent)))
        throw thrown;
    }
  }
  for (const row of make()) recordInserted(queue, row);
  if (anchor.row !== null) recordAccounts(queue, [anchor.row]);
  queue.nextSeq += make().length;
  try {
    await freePages(queue, 0);
  } catch (thrown) {
    // The rows are stored: the caller must not get an error. The next append makes space first.
    queue.log.warn('outbox_eviction_failed', { reason: String(thrown) });
  }
}

/** Salvaged rows: those already there are left alone. Gives how many went in; 0 when the file had to be replaced. */
export async function restore(queue: Queue, found: readonly NewRow[]): Promise<number> {
  const { database } = queue;
  await freePages(queue, Math.ceil(found.reduce((sum, row) => sum + row.body.length, 0) / 700) + 8);
  const fresh: NewRow[] = [];
  for (const row of found) {
    const there = await readRows(queue, rows.idsAfter(row.priority, { from: row.id, to: row.id, limit: 1 }));
    if (there.length === 0) fresh.push(row);
  }
  if (queue.database !== database) return 0;
  const accounts = await accountsWith(
    queue,
    fresh.map(({ id }) => id),
  );
  if (accounts === null || fresh.length === 0) return 0;
  await commit(queue, () =>
    queue.database === database
      ? [...fresh.map((row) => rows.insert(row.priority, row)), ...accounts.map(boots.put)]
      : [],
  );
  if (queue.database !== database) return 0;
  recordAccounts(queue, accounts);
  for (const row of fresh) recordInserted(queue, row);
  await freePages(queue, 0);
  return fresh.length;
}

async function numberFrom(queue: Queue, pragma: string): Promise<number> {
  const row = (await readRows(queue, { sql: `PRAGMA ${pragma}`, params: [] }))[0];
  return Number(row?.[pragma] ?? 0);
}

async function usedPages(queue: Queue): Promise<number> {
  return (await numberFrom(queue, 'page_count')) - (await numberFrom(queue, 'freelist_count'));
}

async function presence(queue: Queue): Promise<[boolean, boolean, boolean, boolean]> {
  const found = [false, false, false, false] as [boolean, boolean, boolean, boolean];
  for (const priority of priorities)
    found[priority] = (await readRows(queue, rows.first(priority))).length > 0;
  return found;
}

/** 20 % of the file is for class 0; a little stays free so that a deletion is always possible. */
function limitsOf(queue: Queue): { softPages: number; hardPages: number } {
  const pages = Math.min(spaceOf(queue.maxBytes).databaseBytes / pageBytes, queue.diskPages);
  return { softPages: Math.floor(pages * 0.8), hardPages: Math.floor(pages * 0.95) - 32 };
}

const reserveEveryMs = 60_000;

/** Once the disk has space again, the cap applies again. */
function regainDisk(queue: Queue): void {
  const nowMs = queue.clock.monoMs();
  if (nowMs < queue.retryReserveMs) return;
  queue.retryReserveMs = nowMs + reserveEveryMs;
  if (allocateReserve(queue.path, spaceOf(queue.maxBytes).logBytes))
    queue.diskPages = Number.MAX_SAFE_INTEGER;
}

async function freePages(queue: Queue, needPages: number): Promise<void> {
  regainDisk(queue);
  const { softPages, hardPages } = limitsOf(queue);
  if (needPages > hardPages / 2) {
    throw new AppError('storage', `a batch of ${needPages} KiB is too large for the outbox`, {
      hint: 'Append fewer events at a time or raise the limit of the outbox.',
    });
  }
  let used = (await usedPages(queue)) + needPages;
  if (used > softPages) await flushPending(queue);
  while (used > softPages) {
    const present = await presence(queue);
    const step = nextEviction({
      usedPages: used,
      softPages,
      hardPages,
      present,
      thinPasses: queue.thinPasses,
    });
    if (step.kind === 'none') return;
    if (step.kind === 'thin') await thinStretch(queue);
    else await evictOldest(queue, step.priority);
    used = (await usedPages(queue)) + needPages;
  }
}

/**
 * A small file is not held at its size when the disk is full: the reserve is there for it, and shares of a tiny
 * file would refuse a panic for which there is space.
 */
const diskPagesLeast = 256;

/** The disk itself is full: give the log's space back, then give up rows so that their pages can be used again. */
async function relieve(queue: Queue, urgent: boolean): Promise<boolean> {
  queue.log.warn('outbox_disk_full');
  freeReserve(queue.path);
  queue.retryReserveMs = queue.clock.monoMs() + reserveEveryMs;
  const pages = Math.max(diskPagesLeast, await numberFrom(queue, 'page_count'));
  queue.diskPages = Math.min(queue.diskPages, pages);
  await emptyLog(queue.database);
  const present = await presence(queue);
  const hardPages = urgent ? 0 : Number.MAX_SAFE_INTEGER;
  const step = nextEviction({ usedPages: 1, softPages: 0, hardPages, present, thinPasses: queue.thinPasses });
  try {
    if (step.kind === 'thin') await thinStretch(queue);
    if (step.kind === 'delete') await evictOldest(queue, step.priority);
  } catch (thrown) {
    if (causeCodeOf(thrown) !== 'SQLITE_FULL') throw thrown;
    // Not even a deletion fits: the caller gets the error that nothing was stored.
    return false;
  }
  return step.kind !== 'none';
}

const idOf = (row: Row | undefined): number => Number(row?.['id'] ?? 0);

async function evictOldest(queue: Queue, priority: Priority): Promise<void> {
  const gone = await readRows(queue, rows.after(priority, { id: 0, limit: evictAtOnce(queue) }));
  if (gone.length === 0) return;
  const range = { from: idOf(gone[0]), to: idOf(gone.at(-1)) };
  await dropRows(queue, [{ priority, range }], { drops: dropsOf(priority, 'full', gone) });
}

/** Rows given up at once: few enough for a small file, enough not to commit all the time on a large one. */
function evictAtOnce(queue: Queue): number {
  return Math.max(32, Math.min(512, Math.floor(queue.maxBytes / 65_536)));
}

/**
 * Drops every second position of the next stretch. The kept ones are rewritten: deleting rows in place leaves pages
 * half full, which frees none of them.
 */
async function thinStretch(queue: Queue): Promise<void> {
  const limit = evictAtOnce(queue);
  const stretch = await readRows(queue, rows.after(3, { id: queue.thinnedTo, limit }));
  if (stretch.length < limit) {
    queue.thinPasses += 1;
    queue.thinnedTo = 0;
    return;
  }
  const { keep, drop } = thin(stretch);
  const list = dropsOf(3, 'full', drop);
  const again = keep.flatMap((row) =>
    row['body'] instanceof Uint8Array ? [{ id: idOf(row), priority: 3 as const, body: row['body'] }] : [],
  );
  const range = { from: idOf(stretch[0]), to: idOf(stretch.at(-1)) };
  if (await dropRows(queue, [{ priority: 3, range }], { drops: list, again })) queue.thinnedTo = range.to;
}
