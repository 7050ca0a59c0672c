// The sending side of the outbox: the next batch, what an acknowledgement deletes, and the report of what was dropped.
// Urgent classes always go first; within a class the order is that of appending.
import { type AttributeValue, type FleetEvent, timeQualities } from '../src/core/event.ts';
import { type Priority, statusCodes } from '../src/core/status-codes.ts';
import type { Row, Statement } from '../src/ports.ts';
import { type BootOrigin, timedEvent } from './core/event-time.ts';
import { bootNumberOf, decodeRow, rowId } from './core/outbox-row.ts';
import {
  type ClassState,
  flushPending,
  type Origin,
  originOf,
  type Queue,
  readRows,
} from './outbox-queue.ts';
import { discardDamaged, isSoundRow } from './outbox-repair.ts';
import { boots, drops, priorities, rows } from './outbox-schema.ts';

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
 * Forgets what is in flight: all of it will be handed out again, in order. What is stored from now on is live and goes
 * before what waits already, and so does the newest position: people want to know first where the vehicle is.
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

/** What is known of a boot's time; null when nothing is. */
export function bootOriginOf(origin: Origin | null): BootOrigin | null {
  const quality = timeQualities.find((one) => one === origin?.quality);
  return origin === null || origin.originMs === null || quality === undefined
    ? null
    : { originMs: origin.originMs, quality };
}

/** The longest prefix of one boot that fits `bytes`. */
function prefixOf(page: readonly Row[], bytes: number): readonly Row[] {
  const number = bootNumberOf(Number(page[0]?.['id']));
  let sum = 0;
  const end = page.findIndex((row, index) => {
    sum += row['body'] instanceof Uint8Array ? row['body'].length : 0;
    return index > 0 && (sum > bytes || bootNumberOf(Number(row['id'])) !== number);
  });
  return end === -1 ? page : page.slice(0, end);
}

async function eventsOf(queue: Queue, sent: readonly Row[]): Promise<Pick<Batch, 'boot' | 'events'> | null> {
  const origin = bootOriginOf(await originOf(queue, bootNumberOf(Number(sent[0]?.['id']))));
  const events: FleetEvent[] = [];
  let boot: string | null = null;
  for (const row of sent) {
    const decoded = row['body'] instanceof Uint8Array ? decodeRow(row['body']) : null;
    if (decoded === null) continue;
    boot ??= decoded.boot;
    events.push(timedEvent(decoded.event, origin));
  }
  return boot === null ? null : { boot, events };
}

/** A stretch of one class, by row id: where to go on, and the last row of it. */
interface Lane {
  readonly priority: Priority;
  readonly isBacklog: boolean;
  readonly end: number;
  readonly limit: number;
}

function goOn(state: ClassState, { isBacklog }: Lane, id?: number): number {
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
  while (goOn(state, lane) < end) {
    const found = await readRows(queue, rows.after(priority, { id: goOn(state, lane), limit: lane.limit }));
    // Live has no end but that of the table: a row whose commit was in doubt may lie behind the last one that is known.
    const page = isBacklog ? found.filter((row) => Number(row['id']) <= end) : found;
    if (page.length === 0) {
      goOn(state, lane, end);
      return null;
    }
    await discardDamaged(queue, { priority, rows: page.filter((row) => !isSoundRow(row)) });
    const unsent = page.filter((row) => isSoundRow(row) && !isPending(queue, Number(row['id'])));
    if (unsent.length === 0) {
      goOn(state, lane, Number(page.at(-1)?.['id']));
      continue;
    }
    const sent = prefixOf(unsent, want.bytes);
    const content = await eventsOf(queue, sent);
    goOn(state, lane, Number(sent.at(-1)?.['id']));
    for (const row of sent) state.inFlight.add(Number(row['id']));
    if (content !== null) return { ...content, priority, isBacklog };
  }
  return null;
}

/** Urgent classes, then what is live, then as much of the backlog as is wanted. */
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

/** The next batch of one boot and one class behind what is in flight; null when there is nothing. */
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
  const row = (await readRows(queue, boots.byName(ack.boot)))[0];
  if (row === undefined) return;
  const number = Number(row['number']);
  const most = number === queue.number ? queue.nextSeq - 1 : 2 ** 31 - 1;
  for (const [fromSeq, toSeq] of ack.ranges) {
    const range = { from: rowId(number, Math.max(1, fromSeq)), to: rowId(number, Math.min(most, toSeq)) };
    if (!(range.from <= range.to)) continue;
    queue.pending.push(range);
    queue.pendingRows += Math.min(range.to - range.from + 1, flushRows);
    for (const state of queue.classes) {
      for (const id of state.inFlight) if (id >= range.from && id <= range.to) state.inFlight.delete(id);
    }
  }
  if (queue.pendingRows >= flushRows) await flushPending(queue);
}

/** An event about rows that were given up, and the statement that forgets the note in the same commit. */
export interface DropReport {
  readonly event: Pick<FleetEvent, 'statusCode' | 'attributes'>;
  readonly forget: Statement;
}

async function reportOf(queue: Queue, row: Row): Promise<DropReport> {
  const origin = await originOf(queue, Number(row['number']));
  const utcMs = (upMs: Row[string] | undefined): number | null =>
    typeof upMs === 'number' && origin !== null && origin.originMs !== null ? origin.originMs + upMs : null;
  const attributes: Record<string, AttributeValue> = {
    class: Number(row['class']),
    boot: origin?.boot ?? null,
    reason: String(row['reason']),
    from: Number(row['from_seq']),
    to: Number(row['to_seq']),
    fromMs: utcMs(row['from_up_ms']),
    toMs: utcMs(row['to_up_ms']),
    count: Number(row['count']),
  };
  const key = { class: row['class'] ?? 0, number: row['number'] ?? 0, reason: row['reason'] ?? '' };
  return { event: { statusCode: statusCodes.EVENTS_DROPPED.code, attributes }, forget: drops.forget(key) };
}

/** What was dropped since the last report, if it is time for one: only while sending, so an outage fills nothing. */
export async function dueReports(queue: Queue): Promise<readonly DropReport[]> {
  const nowMs = queue.clock.monoMs();
  if (!queue.hasUnreported || nowMs < queue.reportNotBeforeMs) return [];
  const found = await readRows(queue, drops.unreported());
  const reports: DropReport[] = [];
  for (const row of found) reports.push(await reportOf(queue, row));
  return reports;
}

/** To be called once the reports are committed. */
export function noteReported(queue: Queue): void {
  queue.reportNotBeforeMs = queue.clock.monoMs() + reportEveryMs;
  queue.hasUnreported = false;
}
