// The durable queue of a vehicle: an event is on disk before it is sent or acted on, and leaves it only when the
// broker has acknowledged it or when space runs out (counted, ranged and reported). Jobs run one at a time, in order.
// Never loses an acknowledged event silently, never falls back to memory.
import { AppError, messageOf } from '../src/core/errors.ts';
import { eventLimits, type FleetEvent, type TimeQuality } from '../src/core/events/event.ts';
import type { Priority } from '../src/core/events/status-codes.ts';
import { isId } from '../src/core/ids.ts';
import type { Statement } from '../src/ports.ts';
import { keptOrigin } from './core/outbox/event-time.ts';
import { stateSum } from './core/outbox/outbox-row.ts';
import { closeFile, fileBytes, maxBytesLeast } from './outbox/file/outbox-file.ts';
import { boots, drops, noteKeys, notes, parseTotal, readStateRows } from './outbox/file/outbox-schema.ts';
import { closingStatements, readBoots, recordAccounts, reportedStatements } from './outbox/outbox-ledger.ts';
import { commit, originOf, readRows, waitingCount } from './outbox/outbox-queue.ts';
import { flushPending } from './outbox/outbox-removal.ts';
import {
  adopt,
  appendNow,
  enqueue,
  type OutboxOptions,
  type OutboxRecord,
  ownEvent,
  planBackground,
  type Run,
  replaceWhileRunning,
  reportReplacement,
} from './outbox/outbox-run.ts';
import { isScanEnded } from './outbox/outbox-scan.ts';
import {
  acknowledge,
  type Batch,
  bootOriginOf,
  type DropReport,
  dueReports,
  type NextBatch,
  nextBatch,
  recordReported,
  rewindQueue,
} from './outbox/outbox-sending.ts';
import { createQueue, resumeQueue } from './outbox/outbox-start.ts';
import { openOrReplace } from './outbox/recovery/outbox-repair.ts';

export type { OutboxOptions, OutboxRecord } from './outbox/outbox-run.ts';
export type { Batch } from './outbox/outbox-sending.ts';

export interface OutboxStats {
  /** Events per class that are stored and not acknowledged; a lower bound until `isExact`. */
  readonly queued: readonly [number, number, number, number];
  readonly isExact: boolean;
  /** Bytes of all files now. */
  readonly bytes: number;
  /** Rows ever given up, per class, over all boots. */
  readonly dropped: readonly [number, number, number, number];
}

export interface AgentState {
  readonly values: ReadonlyMap<string, string>;
  /** False after a loss: relay state is unknown until read back; `trustState()` in an `append` ends that. */
  readonly isIntact: boolean;
}

export interface Outbox {
  /**
   * Stores events and `extra` statements in one durable commit, and only then resolves, with the events numbered.
   * Rejects with AppError `invalid_content` (nothing stored) or `storage` (disk full of class 0, or disk failed).
   */
  append(records: readonly OutboxRecord[], extra?: readonly Statement[]): Promise<readonly FleetEvent[]>;
  /** The next batch behind what is in flight, lowest class number first; null when there is none. */
  next(want: NextBatch): Promise<Batch | null>;
  /** After a lost link: everything unacknowledged is handed out again. */
  rewind(): Promise<void>;
  /** Deletes exactly these; the deletion itself may wait, a repeat after a crash is harmless. */
  acknowledge(boot: string, ranges: readonly (readonly [from: number, to: number])[]): Promise<void>;
  /** UTC of `upMs` 0 of this boot: events stored without UTC or with a guess get it when read, in later boots too. */
  setOrigin(originMs: number, quality: TimeQuality): Promise<void>;
  readState(): Promise<AgentState>;
  stats(): Promise<OutboxStats>;
  /** Deletes acknowledged events and closes the file cleanly. */
  close(): Promise<void>;
}

/** Events and the end of their notes are one commit; if the file is replaced just then, the notes stay. */
async function reportDrops(run: Run, reports: readonly DropReport[]): Promise<void> {
  const { queue } = run;
  const list = reports.map(({ drop }) => drop);
  const events = reports.map(({ event }) => ownEvent(run, event));
  await appendNow(run, events, async () => {
    const { database } = queue;
    const forget = await reportedStatements(queue, list);
    return () => (queue.database === database ? (forget ?? []) : []);
  });
  recordReported(run.queue);
}

async function nextNow(run: Run, want: NextBatch): Promise<Batch | null> {
  const limit = Math.max(1, Math.min(eventLimits.events, Math.floor(want.limit)));
  const reports = await dueReports(run.queue);
  if (reports.length > 0) await reportDrops(run, reports);
  return nextBatch(run.queue, { ...want, limit });
}

async function setOriginNow(run: Run, originMs: number, quality: TimeQuality): Promise<void> {
  const { queue } = run;
  const known = bootOriginOf(await originOf(queue, queue.number));
  const upMs = Math.max(0, queue.clock.monoMs() - run.options.bootMonoMs);
  // Every welcome names a slightly other one, which is not worth a commit.
  if (keptOrigin(known, { originMs, quality }, upMs) === known) return;
  const own = (await readBoots(queue))?.find(({ number }) => number === queue.number);
  if (own === undefined) return;
  const changed = { ...own, originMs, quality };
  const { database } = queue;
  await commit(queue, () => (queue.database === database ? [boots.put(changed)] : []));
  queue.boots.clear();
  if (queue.database === database) recordAccounts(queue, [changed]);
}

async function readStateNow(run: Run): Promise<AgentState> {
  const found = await readRows(run.queue, readStateRows);
  const kept = await readRows(run.queue, notes.all());
  const sound = found.filter((row) => row['sum'] === stateSum(String(row['key']), String(row['value'])));
  const isLost = kept.some((row) => row['key'] === noteKeys.stateLost && row['value'] !== '');
  return {
    values: new Map(sound.map((row) => [String(row['key']), String(row['value'])])),
    isIntact: !isLost && sound.length === found.length,
  };
}

function statsNow(run: Run): OutboxStats {
  const { queue } = run;
  const [p0, p1, p2, p3] = queue.classes;
  const waiting = (priority: Priority): number => waitingCount(queue, priority);
  return {
    queued: [waiting(0), waiting(1), waiting(2), waiting(3)],
    isExact: isScanEnded(run.queue) && run.rescue === null,
    bytes: fileBytes(run.options.path),
    dropped: [p0.dropped, p1.dropped, p2.dropped, p3.dropped],
  };
}

function assertOptions(options: OutboxOptions): void {
  if (options.maxBytes < maxBytesLeast) {
    throw new AppError('config', `The outbox needs at least ${maxBytesLeast} bytes`);
  }
  if (!isId(options.boot)) throw new AppError('config', 'The boot id is not an id');
}

/**
 * Opens the outbox at `path`, or `:memory:` for a simulated vehicle. A damaged file is set aside, replaced and
 * salvaged in the background.
 * @throws AppError `storage` when the folder is missing, not writable or full; `config` for wrong options.
 */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  assertOptions(options);
  const start = await openOrReplace(options, options.boot).catch((thrown: unknown) => {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('storage', `${options.path}: cannot be opened: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'Check the disk, the rights on the file and its folder, and that the file system is not read-only.',
    });
  });
  const kept = start.kind === 'sound' ? start.opened : start.replaced.opened;
  const queue = createQueue(options, kept.database);
  const run: Run = {
    options,
    queue,
    rescue: null,
    reportNote: null,
    tail: Promise.resolve(),
    isClosed: false,
    isBusy: false,
    cancel: () => undefined,
  };
  queue.replace = (reason) => replaceWhileRunning(run, reason);
  try {
    if (start.kind === 'sound') await resumeQueue(run, kept.content);
    else adopt(run, start.replaced);
    for (const row of await readRows(queue, drops.totals())) {
      const total = parseTotal(row);
      if (total !== null) queue.classes[total.priority].dropped = total.dropped;
    }
    await reportReplacement(run);
  } catch (thrown) {
    run.isClosed = true;
    run.cancel();
    run.rescue?.close();
    await closeFile(queue.database);
    throw thrown;
  }
  if (start.kind === 'replaced') {
    const { reason, evidence } = start.replaced;
    options.log.error('outbox_replaced', { reason, evidence });
  }
  planBackground(run);
  return outboxOf(run);
}

function outboxOf(run: Run): Outbox {
  const { queue } = run;
  return {
    append: (records, extra = []) => enqueue(run, () => appendNow(run, records, async () => () => extra)),
    next: (want) => enqueue(run, () => nextNow(run, want)),
    rewind: () => enqueue(run, async () => rewindQueue(queue)),
    acknowledge: (boot, ranges) => enqueue(run, () => acknowledge(queue, { boot, ranges })),
    setOrigin: (originMs, quality) => enqueue(run, () => setOriginNow(run, originMs, quality)),
    readState: () => enqueue(run, () => readStateNow(run)),
    stats: () => enqueue(run, async () => statsNow(run)),
    async close() {
      if (run.isClosed) return;
      await enqueue(run, async () => {
        run.isClosed = true;
        run.cancel();
        run.rescue?.close();
        // Acknowledged events that were not deleted are sent again, which is harmless.
        await flushPending(queue).catch((thrown: unknown) => {
          run.options.log.warn('outbox_close_failed', { reason: String(thrown) });
        });
        const last = await closingStatements(queue).catch(() => []);
        if (!(await closeFile(queue.database, last))) {
          throw new AppError(
            'storage',
            `${run.options.path}: the disk does not take the mark that it is closed`,
            {
              hint: 'Nothing is lost: the next start reads the log. Check the disk.',
            },
          );
        }
      });
    },
  };
}
