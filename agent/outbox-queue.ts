// The outbox's working parts: what is known in memory, writing rows, removing them, making room. Every function here
// runs inside the outbox's single line of work, one at a time. Nothing leaves the disk except by an acknowledgement
// or by an eviction that is counted in the same transaction.
import { messageOf } from '../src/core/errors.ts';
import type { FleetEvent } from '../src/core/event.ts';
import type { Priority } from '../src/core/status-codes.ts';
import type { Clock, Database, Log, Row, Statement, WriteResult } from '../src/ports.ts';
import { bootNumberOf, decodeRow, encodeRow, rowId, seqOf } from './core/outbox-row.ts';
import { isDamage } from './outbox-file.ts';
import { isReadable, readingLimits, unreadable } from './outbox-reading.ts';
import { boots, type Drop, type DropReason, type IdRange, priorities, rows } from './outbox-schema.ts';

export interface ClassState {
  /** Highest row id of the backlog handed out since the last rewind. */
  cursor: number;
  /** Rows above this are live: stored since the last rewind, or the newest position of all. */
  liveFrom: number;
  /** Highest live row id handed out. */
  liveCursor: number;
  /** Highest row id there can be. */
  last: number;
  /** Rows counted so far; complete once the walk is done. */
  count: number;
  dropped: number;
  /** Rows were salvaged behind the cursor. */
  late: boolean;
  readonly inFlight: Set<number>;
}

export interface Origin {
  readonly boot: string;
  readonly originMs: number | null;
  readonly quality: string | null;
}

export interface Queue {
  readonly clock: Clock;
  readonly log: Log;
  readonly boot: string;
  readonly path: string;
  readonly maxBytes: number;
  /** Pages that the disk has room for, below the cap while others fill it. */
  diskPages: number;
  /** Monotonic time of the next try to set space aside again. */
  retryReserveMs: number;
  database: Database;
  /** Number of the running boot in this file. */
  number: number;
  nextSeq: number;
  /** A commit failed, and may yet have reached the disk. */
  isInDoubt: boolean;
  /** Monotonic time since which the disk does not give the file; null while it does. */
  unreadableSinceMs: number | null;
  /** Why the file is being replaced, while that has not succeeded. */
  damage: string | null;
  classes: readonly [ClassState, ClassState, ClassState, ClassState];
  readonly boots: Map<number, Origin>;
  /** Acknowledged and not yet deleted. */
  pending: IdRange[];
  pendingRows: number;
  hasUnreported: boolean;
  /** Monotonic time before which no further report of drops is made. */
  reportNotBeforeMs: number;
  thinPasses: number;
  thinnedTo: number;
  /** The background walk that counts and checks what was there at the start: all below `boundary` in the end. */
  walk: { priority: number; at: number; boundary: number };
  /** Sets a damaged file aside and puts a new one into place. */
  replace(reason: string): Promise<void>;
}

export function emptyClass(): ClassState {
  return {
    cursor: 0,
    liveFrom: 0,
    liveCursor: 0,
    last: 0,
    count: 0,
    dropped: 0,
    late: false,
    inFlight: new Set(),
  };
}

/**
 * Runs a database call. Damage that stays replaces the file, and the call is made once more on the new one. A batch that
 * failed has left nothing behind, so it may be made again. A file that cannot be read is no damaged one until that lasts.
 */
async function sound<T>(queue: Queue, work: (database: Database) => Promise<T>): Promise<T> {
  if (queue.damage !== null) await queue.replace(queue.damage);
  const { damageShows, waitMs } = readingLimits;
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await work(queue.database);
      queue.unreadableSinceMs = null;
      return result;
    } catch (thrown) {
      if (!isDamage(thrown) || attempt > damageShows) throw thrown;
      if (attempt < damageShows) continue;
      if (!isReadable(queue.path)) {
        const nowMs = queue.clock.monoMs();
        queue.unreadableSinceMs ??= nowMs;
        if (nowMs - queue.unreadableSinceMs < waitMs) throw unreadable(queue.path, thrown);
      }
      await queue.replace(messageOf(thrown));
    }
  }
}

export function readRows(queue: Queue, statement: Statement): Promise<readonly Row[]> {
  return sound(queue, (database) => database.read(statement));
}

export function commit(queue: Queue, batch: () => readonly Statement[]): Promise<readonly WriteResult[]> {
  return sound(queue, (database) => database.write(batch()));
}

export function isWalked(queue: Queue, priority: Priority, id: number): boolean {
  const { walk } = queue;
  return id >= walk.boundary || priority < walk.priority || (priority === walk.priority && id <= walk.at);
}

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

export interface Removal {
  readonly priority: Priority;
  readonly range: IdRange;
}

/**
 * Deletes ranges and writes `extra` in one commit; the counts follow. False, and nothing done, when the file turned out
 * damaged and was replaced: in the new one the same row ids belong to other events.
 */
export async function remove(
  queue: Queue,
  removals: readonly Removal[],
  extra: readonly Statement[],
): Promise<boolean> {
  const { database } = queue;
  const parts = removals.flatMap(({ priority, range }) =>
    partsOf(queue, priority, range).map((part) => ({ priority, range: part })),
  );
  const results = await commit(queue, () =>
    queue.database === database
      ? [...parts.map(({ priority, range }) => rows.removeRange(priority, range)), ...extra]
      : [],
  );
  if (queue.database !== database) return false;
  for (const [index, { priority, range }] of parts.entries()) {
    if (isWalked(queue, priority, range.to)) queue.classes[priority].count -= results[index]?.changes ?? 0;
  }
  return true;
}

/** Deletes what was acknowledged. After a crash before this the rows are sent again, which is harmless. */
export async function flushPending(queue: Queue): Promise<void> {
  if (queue.pending.length === 0) return;
  const ranges = queue.pending;
  await remove(
    queue,
    ranges.flatMap((range) => priorities.map((priority) => ({ priority, range }))),
    [],
  );
  queue.pending = [];
  queue.pendingRows = 0;
}

export interface NewRow {
  readonly id: number;
  readonly priority: Priority;
  readonly body: Uint8Array;
}

export function rowOf(queue: Queue, record: { event: FleetEvent; priority: Priority }): NewRow {
  const { event, priority } = record;
  return {
    id: rowId(queue.number, event.seq),
    priority,
    body: encodeRow({ boot: queue.boot, priority, event }),
  };
}

export function noteInserted(queue: Queue, row: { id: number; priority: Priority }): void {
  const state = queue.classes[row.priority];
  if (isWalked(queue, row.priority, row.id)) state.count += 1;
  if (row.id <= state.cursor || (row.id > state.liveFrom && row.id <= state.liveCursor)) state.late = true;
  state.last = Math.max(state.last, row.id);
}

/** After a failed commit nobody knows whether the disk has it: numbers that are taken must not be given again. */
export async function settleDoubt(queue: Queue): Promise<void> {
  if (!queue.isInDoubt) return;
  for (const priority of priorities) {
    const last = Number((await readRows(queue, rows.last(priority)))[0]?.['id'] ?? 0);
    if (bootNumberOf(last) !== queue.number || seqOf(last) < queue.nextSeq) continue;
    queue.nextSeq = seqOf(last) + 1;
    queue.classes[priority].last = Math.max(queue.classes[priority].last, last);
  }
  queue.isInDoubt = false;
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
export function noteDrops(queue: Queue, list: readonly Drop[]): void {
  for (const drop of list) {
    queue.classes[drop.priority].dropped += drop.count;
    queue.log.warn('outbox_dropped', { ...drop });
  }
  if (list.length > 0) queue.hasUnreported = true;
}

/** Boot id and origin of a boot number; null when the file does not know it. */
export async function originOf(queue: Queue, number: number): Promise<Origin | null> {
  const known = queue.boots.get(number);
  if (known) return known;
  const row = (await readRows(queue, boots.byNumber(number)))[0];
  if (row === undefined) return null;
  const originMs = typeof row['origin_ms'] === 'number' ? row['origin_ms'] : null;
  const quality = typeof row['quality'] === 'string' ? row['quality'] : null;
  const origin = { boot: String(row['boot']), originMs, quality };
  if (queue.boots.size > 64) queue.boots.clear();
  queue.boots.set(number, origin);
  return origin;
}
