// The running outbox: its job queue, appending, its own events, and the background work of counting, checking and
// salvaging. A file found damaged while running is replaced here; the queue continues in the new one.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { type AttributeValue, eventLimits, type FleetEvent } from '../../src/core/events/event.ts';
import { eventFault } from '../../src/core/events/event-check.ts';
import { type Priority, statusCodes } from '../../src/core/events/status-codes.ts';
import type { Cancel, Log } from '../../src/ports.ts';
import type { FileOptions } from './file/outbox-file.ts';
import { noteKeys, notes } from './file/outbox-schema.ts';
import { type Queue, resolveUnknownCommit, rowOf } from './outbox-queue.ts';
import { type Rescue, resumeRescue } from './outbox-salvage.ts';
import { endedScan, scanStep } from './outbox-scan.ts';
import { rewindQueue } from './outbox-sending.ts';
import { type Extra, insert } from './outbox-space.ts';
import { type Replacement, replacedBootNumber, replaceFile } from './recovery/outbox-repair.ts';

export interface OutboxOptions extends FileOptions {
  /** Id of this run; a fresh one at every start of the agent, since sequence numbers begin at 1. */
  readonly boot: string;
  /** Monotonic time that `upMs` counts from. */
  readonly bootMonoMs: number;
  readonly log: Log;
  // `maxBytes` (of FileOptions) caps database and log together; at least 1 MiB.
}

export interface OutboxRecord {
  readonly event: Omit<FleetEvent, 'seq'>;
  readonly priority: Priority;
}

export interface Run {
  readonly options: OutboxOptions;
  readonly queue: Queue;
  rescue: Rescue | null;
  /** A replacement that is not reported yet. */
  reportNote: string | null;
  tail: Promise<unknown>;
  isClosed: boolean;
  isBusy: boolean;
  cancel: Cancel;
}

/** Runs jobs one after the other; a failed one does not stop the next. */
export function enqueue<T>(run: Run, job: () => Promise<T>): Promise<T> {
  const result = run.tail.then(() => {
    if (run.isClosed) throw new AppError('storage', `${run.options.path}: the outbox is closed`);
    return job();
  });
  run.tail = result.catch(() => undefined);
  return result;
}

function upMsOf(run: Run): number {
  return Math.max(0, Math.round(run.queue.clock.monoMs() - run.options.bootMonoMs));
}

/** An event of the outbox's own; UTC follows when read. */
export function ownEvent(run: Run, event: Pick<FleetEvent, 'statusCode' | 'attributes'>): OutboxRecord {
  return { event: { ...event, timestamp: null, upMs: upMsOf(run), timeQuality: 'none' }, priority: 1 };
}

export async function appendNow(run: Run, records: readonly OutboxRecord[], extra: Extra) {
  const { queue } = run;
  if (records.length > eventLimits.events) {
    throw new AppError('invalid_content', `more than ${eventLimits.events} events in one append`);
  }
  await resolveUnknownCommit(queue);
  const first = queue.nextSeq;
  const numbered = records.map(({ event, priority }, index) => ({
    event: { ...event, seq: first + index },
    priority,
  }));
  for (const [index, { event }] of numbered.entries()) {
    const fault = eventFault(event);
    if (fault !== null) throw new AppError('invalid_content', `event ${index} of an append: ${fault}`);
  }
  // A function, because a damaged file may be replaced before the second try, and the rows' numbers with it.
  await insert(queue, () => numbered.map((record) => rowOf(queue, record)), extra);
  await reportReplacement(run);
  return numbered.map(({ event }) => event);
}

/** What a report note holds; the reason alone when it is unreadable. */
function reportAttributes(note: string): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = { phase: 'replaced' };
  try {
    const value: unknown = JSON.parse(note);
    for (const [key, one] of Object.entries(typeof value === 'object' && value !== null ? value : {})) {
      if (typeof one === 'string' || typeof one === 'boolean') attributes[key] = one;
    }
  } catch {
    attributes['reason'] = 'unknown';
  }
  return attributes;
}

/** Reports a replacement once: the event and the end of its note are one commit. */
export async function reportReplacement(run: Run): Promise<void> {
  const { reportNote } = run;
  if (reportNote === null) return;
  run.reportNote = null;
  const attributes = reportAttributes(reportNote);
  try {
    const event = ownEvent(run, { statusCode: statusCodes.STORAGE_REPLACED.code, attributes });
    await appendNow(run, [event], async () => () => [notes.clear(noteKeys.report, reportNote)]);
  } catch (thrown) {
    // What was asked for is done; the report is made up for with the next append.
    run.reportNote = reportNote;
    run.options.log.warn('outbox_report_failed', { reason: String(thrown) });
  }
}

const backgroundMs = 20;
/** After a failure, a full disk for one. */
const backgroundRetryMs = 30_000;

async function runBackground(run: Run): Promise<void> {
  try {
    const goesOn = await enqueue(run, () => backgroundStep(run));
    run.isBusy = false;
    if (goesOn) planBackground(run);
  } catch (thrown) {
    run.isBusy = false;
    if (run.isClosed) return;
    run.options.log.error('outbox_background_failed', { reason: String(thrown) });
    planBackground(run, backgroundRetryMs);
  }
}

/** One short piece of background work at a time, with pauses, until none is left. */
export function planBackground(run: Run, delayMs = backgroundMs): void {
  if (run.isClosed || run.isBusy) return;
  run.isBusy = true;
  run.cancel = run.queue.clock.after(delayMs, () => {
    void runBackground(run);
  });
}

async function backgroundStep(run: Run): Promise<boolean> {
  // First the cause, then its consequences.
  await reportReplacement(run);
  const { rescue } = run;
  if (rescue === null) return scanStep(run.queue);
  if (await rescue.step()) return true;
  if (run.rescue !== rescue) return true;
  const { least, most } = rescue.lost();
  const attributes = { phase: 'salvaged', count: rescue.restored(), lostLeast: least, lostMost: most };
  const event = ownEvent(run, { statusCode: statusCodes.STORAGE_REPLACED.code, attributes });
  await appendNow(run, [event], async () => () => [notes.clear(noteKeys.rescue, rescue.note)]);
  // Unless the file was replaced just now: then there is another salvage to do.
  if (run.rescue === rescue) run.rescue = null;
  return true;
}

/** Puts a new file in the place of one that turned out damaged while running. */
export async function replaceWhileRunning(run: Run, reason: string): Promise<void> {
  const { queue, options } = run;
  options.log.error('outbox_damaged', { reason });
  run.rescue?.close();
  // Until this succeeds every call tries it again first: the old connection is of no use any more.
  if (queue.damage === null) await queue.database.close();
  queue.damage = reason;
  const fault = {
    reason,
    // What was committed while running is in the file, or in its log.
    lacksCommits: false,
    boot: options.boot,
    lastSeq: queue.nextSeq - 1,
    skipped: queue.isInDoubt ? eventLimits.events : 0,
    isRunning: true,
  };
  const replaced = await replaceFile(options, fault).catch((thrown: unknown) => {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError('storage', `${options.path}: cannot be replaced: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'It is tried again with every event. Check the disk and the rights on its folder.',
    });
  });
  queue.nextSeq += fault.skipped;
  adopt(run, replaced);
}

export function adopt(run: Run, replaced: Replacement): void {
  const { queue } = run;
  queue.database = replaced.opened.database;
  queue.damage = null;
  queue.number = replacedBootNumber;
  queue.own = replaced.own;
  queue.boots.clear();
  // Their row ids mean other events in the new file. What was acknowledged and comes back is a repeat, which is harmless.
  queue.pending = [];
  queue.pendingRows = 0;
  queue.thinPasses = 0;
  queue.thinnedTo = 0;
  queue.hasUnreported = true;
  for (const state of queue.classes) {
    state.count = 0;
    state.last = 0;
    state.acknowledged.clear();
  }
  rewindQueue(queue);
  // The part below the boundary is still empty, and salvaged rows are counted as they arrive.
  queue.walk = endedScan();
  run.rescue = resumeRescue(queue, { path: run.options.path, note: replaced.rescueNote });
  run.reportNote = replaced.reportNote;
  planBackground(run);
}
