// State of the outbox in memory, and calls of the database that handle damage. Every function here runs inside the
// outbox's job queue, one at a time. A row leaves the disk only by an acknowledgement or by an eviction that is
// counted in the same transaction.
import { messageOf } from '../../src/core/errors.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import type { Priority } from '../../src/core/events/status-codes.ts';
import type { Clock, Database, Log, Row, Statement, WriteResult } from '../../src/ports.ts';
import type { Tally } from '../core/outbox/outbox-account.ts';
import { bootNumberOf, encodeRow, rowId, seqOf } from '../core/outbox/outbox-row.ts';
import { isDamage } from './file/outbox-file.ts';
import { isReadable, readingLimits, unreadableError } from './file/outbox-reading.ts';
import { type BootRow, boots, type IdRange, parseBoot, priorities, rows } from './file/outbox-schema.ts';

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
  /** Rows that are acknowledged and not deleted yet, as far as they were handed out or passed by. */
  readonly acknowledged: Set<number>;
}

export type Origin = Pick<BootRow, 'boot' | 'originMs' | 'quality'>;

export interface Queue {
  readonly clock: Clock;
  readonly log: Log;
  readonly boot: string;
  readonly path: string;
  readonly maxBytes: number;
  /** Pages that the disk has space for, below the cap while others fill it. */
  diskPages: number;
  /** Monotonic time of the next try to set space aside again. */
  retryReserveMs: number;
  database: Database;
  /** Number of the running boot in this file. */
  number: number;
  nextSeq: number;
  /** The account of the running boot, as it was written last. */
  own: BootRow;
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
  walk: { priority: number; at: number; boundary: number; readonly seen: Map<number, Tally> };
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
    acknowledged: new Set(),
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
        if (nowMs - queue.unreadableSinceMs < waitMs) throw unreadableError(queue.path, thrown);
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

export function isScanned(queue: Queue, priority: Priority, id: number): boolean {
  const { walk } = queue;
  return id >= walk.boundary || priority < walk.priority || (priority === walk.priority && id <= walk.at);
}

/** Rows of a class that are stored and not acknowledged; a lower bound until the walk is done. */
export function waitingCount(queue: Queue, priority: Priority): number {
  const { count, acknowledged } = queue.classes[priority];
  const counted = [...acknowledged].filter((id) => isScanned(queue, priority, id));
  return count - counted.length;
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

export function recordInserted(queue: Queue, row: { id: number; priority: Priority }): void {
  const state = queue.classes[row.priority];
  if (isScanned(queue, row.priority, row.id)) state.count += 1;
  if (row.id <= state.cursor || (row.id > state.liveFrom && row.id <= state.liveCursor)) state.late = true;
  state.last = Math.max(state.last, row.id);
}

/** After a failed commit it is unknown whether the disk has it: used numbers must not be assigned again. */
export async function resolveUnknownCommit(queue: Queue): Promise<void> {
  if (!queue.isInDoubt) return;
  for (const priority of priorities) {
    const last = Number((await readRows(queue, rows.last(priority)))[0]?.['id'] ?? 0);
    if (bootNumberOf(last) !== queue.number || seqOf(last) < queue.nextSeq) continue;
    queue.nextSeq = seqOf(last) + 1;
    queue.classes[priority].last = Math.max(queue.classes[priority].last, last);
  }
  const own = (await readRows(queue, boots.byNumber(queue.number)))[0];
  queue.own = (own && parseBoot(own)) ?? queue.own;
  queue.isInDoubt = false;
}

/** Boot id and origin of a boot number; null when the file does not know it. */
export async function originOf(queue: Queue, number: number): Promise<Origin | null> {
  const known = queue.boots.get(number);
  if (known) return known;
  const row = (await readRows(queue, boots.byNumber(number)))[0];
  if (row === undefined) return null;
  const origin = parseBoot(row);
  if (origin === null) return null;
  if (queue.boots.size > 64) queue.boots.clear();
  queue.boots.set(number, origin);
  return origin;
}
