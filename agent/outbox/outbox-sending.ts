// The sending side of the outbox: the next batch, deletion on acknowledgement, and the report of drops. Urgent
// classes always go first; within a class the order is that of appending.
import { type AttributeValue, type FleetEvent, timeQualities } from '../../src/core/events/event.ts';
import { type Priority, statusCodes } from '../../src/core/events/status-codes.ts';
import { type BootOrigin, timedEvent } from '../core/outbox/event-time.ts';
import { bootNumberOf, rowId } from '../core/outbox/outbox-row.ts';
import { boots, type Drop, drops, parseBoot, parseDrop, priorities, rows } from './file/outbox-schema.ts';
import { type CheckedRow, checkPage, compareEmpty, faults } from './outbox-ledger.ts';
import { type ClassState, type Origin, originOf, type Queue, readRows } from './outbox-queue.ts';
import { flushPending, pendingCount } from './outbox-removal.ts';
import { dropDamaged, isScanEnded } from './outbox-scan.ts';

/** A running boot's drops are reported at most this often. */
const reportEveryMs = 60_000;
/** So many acknowledged rows are deleted at once: a page of the file holds about a dozen. */
const flushRows = 64;

export interface NextBatch {
  /** Most events, 1 to 500. */
  readonly limit: number;
  /** Most payload bytes; at least one event is always given. */
  readonly bytes: number;
  /** Classes left out this time. */
  readonly skip?: readonly Priority[];
  /** Most events of the backlog's lower classes; as many as fit when absent. */
  readonly backlog?: number;
  /** Only events of this boot: none when others are next. */
  readonly boot?: string;
}

export interface Batch {
  readonly boot: string;
  readonly priority: Priority;
  readonly events: readonly FleetEvent[];
  /** Stored before this link was up, and not urgent: such batches are paced. */
  readonly isBacklog: boolean;
}

/** These go in order and at once, however old they are. */
const urgent: readonly Priority[] = [0, 1];

/**
 * Clears what is in flight: all of it will be sent again, in order. Events stored from now on are live and precede
 * the backlog, and so does the newest position: where the vehicle is matters most.
 */
export function rewindQueue(queue: Queue): void {
  for (const [priority, state] of queue.classes.entries()) {
    state.liveFrom = urgent.some((one) => one === priority) ? 0 : state.last - (priority === 3 ? 1 : 0);
    startOver(state);
    state.inFlight.clear();
  }
}

function startOver(state: ClassState): void {
  state.cursor = 0;
  state.liveCursor = state.liveFrom;
  state.late = false;
}

function isPending(queue: Queue, id: number): boolean {
  return queue.pending.some((range) => id >= range.from && id <= range.to);
}

/** Origin of a boot's time; null when unknown. */
export function bootOriginOf(origin: Origin | null): BootOrigin | null {
  const quality = timeQualities.find((one) => one === origin?.quality);
  return origin === null || origin.originMs === null || quality === undefined
    ? null
    : { originMs: origin.originMs, quality };
}

/** The longest prefix of one boot that fits `bytes`. */
function prefixOf(page: readonly CheckedRow[], bytes: number): readonly CheckedRow[] {
  const number = bootNumberOf(page[0]?.id ?? 0);
  let sum = 0;
  const end = page.findIndex((row, index) => {
    sum += row.bytes;
    return index > 0 && (sum > bytes || bootNumberOf(row.id) !== number);
  });
  return end === -1 ? page : page.slice(0, end);
}

/** A stretch of one class, by row id: where to go on, and the last row of it. */
interface Lane {
  readonly priority: Priority;
  readonly isBacklog: boolean;
  readonly end: number;
  readonly limit: number;
}

function moveCursor(state: ClassState, { isBacklog }: Lane, id?: number): number {
  if (id !== undefined && isBacklog) state.cursor = id;
  if (id !== undefined && !isBacklog) state.liveCursor = id;
  return isBacklog ? state.cursor : state.liveCursor;
}

async function nextOf(queue: Queue, lane: Lane, want: NextBatch): Promise<Batch | null> {
  const { priority, end, isBacklog } = lane;
  const state = queue.classes[priority];
  if (state.late && state.inFlight.size === 0) {
    startOver(state);
    await flushPending(queue);
  }
  while (moveCursor(state, lane) < end) {
    const found = await readRows(
      queue,
      rows.after(priority, { id: moveCursor(state, lane), limit: lane.limit }),
    );
    // Live has no end but that of the table: a row whose commit was in doubt may lie behind the last one that is known.
    const page = isBacklog ? found.filter((row) => Number(row['id']) <= end) : found;
    if (page.length === 0) {
      moveCursor(state, lane, end);
      return null;
    }
    const after = moveCursor(state, lane);
    const judged = await checkPage(queue, { priority, after, rows: page });
    // A new file is in place, and the salvage will restore the content of the old one.
    if (judged === null) return null;
    await dropDamaged(queue, { priority, rows: judged.spoiled });
    // Acknowledged after a rewind: such rows were not in flight.
    for (const { id } of judged.sound) if (isPending(queue, id)) state.acknowledged.add(id);
    const unsent = judged.sound.filter(({ id }) => !state.acknowledged.has(id));
    const sent = prefixOf(unsent, want.bytes);
    const first = sent[0];
    if (first !== undefined && want.boot !== undefined && first.stored.boot !== want.boot) return null;
    moveCursor(state, lane, sent.at(-1)?.id ?? Number(page.at(-1)?.['id']));
    if (first === undefined) continue;
    const origin = bootOriginOf(await originOf(queue, bootNumberOf(first.id)));
    for (const { id } of sent) state.inFlight.add(id);
    const events = sent.map(({ stored }) => timedEvent(stored.event, origin));
    return { boot: first.stored.boot, events, priority, isBacklog };
  }
  return null;
}

/** Urgent classes, then live events, then as much of the backlog as is wanted. */
function lanesOf(queue: Queue, want: NextBatch): readonly Lane[] {
  const wanted = priorities.filter((priority) => want.skip?.includes(priority) !== true);
  const live = wanted.map((priority): Lane => {
    return { priority, isBacklog: false, end: queue.classes[priority].last, limit: want.limit };
  });
  const limit = Math.min(want.limit, want.backlog ?? want.limit);
  const backlog = wanted.map((priority): Lane => {
    return { priority, isBacklog: true, end: queue.classes[priority].liveFrom, limit };
  });
  return limit > 0 ? [...live, ...backlog] : live;
}

/** The next batch of one boot and one class behind what is in flight; null when there is none. */
export async function nextBatch(queue: Queue, want: NextBatch): Promise<Batch | null> {
  for (const lane of lanesOf(queue, want)) {
    const batch = await nextOf(queue, lane, want);
    if (batch !== null) return batch;
  }
  return null;
}

/** Takes exactly the given sequence numbers of a boot out of the queue. Numbers not yet given away are ignored. */
export async function acknowledge(
  queue: Queue,
  ack: { boot: string; ranges: readonly (readonly [from: number, to: number])[] },
): Promise<void> {
  const number = await numberOf(queue, ack.boot);
  if (number === null) return;
  const most = number === queue.number ? queue.nextSeq - 1 : 2 ** 31 - 1;
  for (const [fromSeq, toSeq] of ack.ranges) {
    const range = { from: rowId(number, Math.max(1, fromSeq)), to: rowId(number, Math.min(most, toSeq)) };
    if (!(range.from <= range.to)) continue;
    queue.pending.push(range);
    queue.pendingRows += Math.min(range.to - range.from + 1, flushRows);
    for (const state of queue.classes) {
      for (const id of state.inFlight) {
        if (id < range.from || id > range.to) continue;
        state.inFlight.delete(id);
        state.acknowledged.add(id);
      }
    }
  }
  if (queue.pendingRows >= flushRows) await flushPending(queue);
  if (isDrained(queue)) await compareEmpty(queue, pendingCount(queue));
}

/** Nothing is left to send, as far as the rows show. */
function isDrained(queue: Queue): boolean {
  const isDone = (state: ClassState): boolean =>
    state.inFlight.size === 0 &&
    !state.late &&
    state.cursor >= state.liveFrom &&
    state.liveCursor >= state.last;
  return isScanEnded(queue) && !queue.isInDoubt && queue.classes.every(isDone);
}

async function numberOf(queue: Queue, boot: string): Promise<number | null> {
  if (boot === queue.boot) return queue.number;
  const row = (await readRows(queue, boots.byName(boot)))[0];
  return (row && parseBoot(row)?.number) ?? null;
}

/** An event about rows that were given up, and the note that is to be forgotten in the same commit. */
export interface DropReport {
  readonly event: Pick<FleetEvent, 'statusCode' | 'attributes'>;
  readonly drop: Drop;
}

async function reportOf(queue: Queue, drop: Drop): Promise<DropReport> {
  const origin = await originOf(queue, drop.number);
  const utcMs = (upMs: number | null): number | null =>
    upMs !== null && origin !== null && origin.originMs !== null ? origin.originMs + upMs : null;
  const attributes: Record<string, AttributeValue> = {
    class: drop.priority,
    boot: origin?.boot ?? null,
    reason: drop.reason,
    from: drop.fromSeq,
    to: drop.toSeq,
    fromMs: utcMs(drop.fromUpMs),
    toMs: utcMs(drop.toUpMs),
    count: drop.count,
  };
  return { event: { statusCode: statusCodes.EVENTS_DROPPED.code, attributes }, drop };
}

/** What was dropped since the last report, if it is time for one: only while sending, so an outage fills nothing. */
export async function dueReports(queue: Queue): Promise<readonly DropReport[]> {
  const nowMs = queue.clock.monoMs();
  if (!queue.hasUnreported || nowMs < queue.reportNotBeforeMs) return [];
  const { database } = queue;
  const found = (await readRows(queue, drops.unreported())).map(parseDrop);
  if (found.some((drop) => drop === null) && queue.database === database) await queue.replace(faults.drops);
  if (queue.database !== database) return [];
  const reports: DropReport[] = [];
  for (const drop of found) if (drop !== null) reports.push(await reportOf(queue, drop));
  return reports;
}

/** To be called once the reports are committed. */
export function recordReported(queue: Queue): void {
  queue.reportNotBeforeMs = queue.clock.monoMs() + reportEveryMs;
  queue.hasUnreported = false;
}
