// Room in the outbox: rows go in only after room was made for them, and what is given up for that is counted in the same
// commit. Holds the cap on its own file, and copes with a disk that others filled. Never gives up an urgent event while
// anything else is left.
import { AppError } from '../src/core/errors.ts';
import type { Priority } from '../src/core/status-codes.ts';
import type { Row, Statement } from '../src/ports.ts';
import { nextEviction, thin } from './core/eviction.ts';
import { pageBytes } from './core/page-carving.ts';
import { emptyLog, spaceOf, sqliteCode } from './outbox-file.ts';
import {
  commit,
  dropsOf,
  flushPending,
  isWalked,
  type NewRow,
  noteDrops,
  noteInserted,
  type Queue,
  readRows,
  remove,
} from './outbox-queue.ts';
import { giveReserve, takeReserve } from './outbox-reserve.ts';
import { drops, priorities, rows } from './outbox-schema.ts';

/** Commits new rows with `extra` in one transaction, after making room; evicts again if that overshot. */
export async function insert(
  queue: Queue,
  make: () => readonly NewRow[],
  extra: readonly Statement[],
): Promise<void> {
  const bytes = make().reduce((sum, row) => sum + row.body.length + 16, 0);
  const pages = Math.ceil((bytes * 1.3) / pageBytes) + 8;
  await makeRoom(queue, pages);
  const urgent = make().some((row) => row.priority === 0) || make().length === 0;
  for (let attempt = 0; ; attempt++) {
    try {
      await commit(queue, () => [...make().map((row) => rows.insert(row.priority, row)), ...extra]);
      break;
    } catch (thrown) {
      queue.isInDoubt = true;
      if (sqliteCode(thrown) !== 'SQLITE_FULL' || attempt >= 16 || !(await relieve(queue, urgent)))
        throw thrown;
    }
  }
  for (const row of make()) noteInserted(queue, row);
  queue.nextSeq += make().length;
  try {
    await makeRoom(queue, 0);
  } catch (thrown) {
    // The rows are stored: the caller must not hear of a failure. The next append makes room first.
    queue.log.warn('outbox_make_room', { reason: String(thrown) });
  }
}

/** Salvaged rows: those already there are left alone. */
export async function restore(queue: Queue, found: readonly NewRow[]): Promise<number> {
  await makeRoom(queue, Math.ceil(found.reduce((sum, row) => sum + row.body.length, 0) / 700) + 8);
  const results = await commit(queue, () => found.map((row) => rows.restore(row.priority, row)));
  let restored = 0;
  for (const [index, row] of found.entries()) {
    if (results[index]?.changes !== 1) continue;
    noteInserted(queue, row);
    restored += 1;
  }
  await makeRoom(queue, 0);
  return restored;
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

/** 20 % of the file is for class 0; a little stays free so that a deletion always finds room to happen. */
function limitsOf(queue: Queue): { softPages: number; hardPages: number } {
  const pages = Math.min(spaceOf(queue.maxBytes).databaseBytes / pageBytes, queue.diskPages);
  return { softPages: Math.floor(pages * 0.8), hardPages: Math.floor(pages * 0.95) - 32 };
}

const reserveEveryMs = 60_000;

/** Once the disk has room again, the cap counts again. */
function regainDisk(queue: Queue): void {
  const nowMs = queue.clock.monoMs();
  if (nowMs < queue.retryReserveMs) return;
  queue.retryReserveMs = nowMs + reserveEveryMs;
  if (takeReserve(queue.path, spaceOf(queue.maxBytes).logBytes)) queue.diskPages = Number.MAX_SAFE_INTEGER;
}

async function makeRoom(queue: Queue, needPages: number): Promise<void> {
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
 * A small file is not held at its size when the disk is full: the space that was set aside is there for it, and shares of
 * next to nothing would refuse a panic for which there is room.
 */
const diskPagesLeast = 256;

/** The disk itself is full: give the log's space back, then give up rows so that their pages can be used again. */
async function relieve(queue: Queue, urgent: boolean): Promise<boolean> {
  queue.log.warn('outbox_disk_full');
  giveReserve(queue.path);
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
    if (sqliteCode(thrown) !== 'SQLITE_FULL') throw thrown;
    // Not even a deletion fits: the caller is told that nothing was stored.
    return false;
  }
  return step.kind !== 'none';
}

const idOf = (row: Row | undefined): number => Number(row?.['id'] ?? 0);

async function evictOldest(queue: Queue, priority: Priority): Promise<void> {
  const gone = await readRows(queue, rows.after(priority, { id: 0, limit: evictAtOnce(queue) }));
  if (gone.length === 0) return;
  const range = { from: idOf(gone[0]), to: idOf(gone.at(-1)) };
  const list = dropsOf(priority, 'full', gone);
  if (await remove(queue, [{ priority, range }], list.flatMap(drops.note))) noteDrops(queue, list);
}

/** Rows given up at once: few enough for a small file, enough not to commit all the time on a large one. */
function evictAtOnce(queue: Queue): number {
  return Math.max(32, Math.min(512, Math.floor(queue.maxBytes / 65_536)));
}

/**
 * Gives up every second position of the next stretch. The kept ones are written anew: deleting rows in place leaves
 * pages half full, which frees none of them.
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
    row['body'] instanceof Uint8Array ? [rows.insert(3, { id: idOf(row), body: row['body'] })] : [],
  );
  const range = { from: idOf(stretch[0]), to: idOf(stretch.at(-1)) };
  const extra = [...again, ...list.flatMap(drops.note)];
  if (!(await remove(queue, [{ priority: 3, range }], extra))) return;
  // `remove` took the kept ones off the count as well.
  for (const row of keep) if (isWalked(queue, 3, idOf(row))) queue.classes[3].count += 1;
  queue.thinnedTo = range.to;
  noteDrops(queue, list);
}
