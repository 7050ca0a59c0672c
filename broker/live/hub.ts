// The hub of live streams: one listener for commits of all processes, and a few periodic tasks for all readers of this process. A
// message is made once and shared. Readers that fall too far behind are cut, and resume by the last number that they received.
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import type { Cancel, Clock, CommitNotice, Database, Log } from '../../src/ports.ts';
import type { LiveChange } from '../core/live/live-kinds.ts';
import { keepAlive, type LiveEvent, resetMessage } from '../core/live/live-message.ts';
import { createPresenceBoard, type Presence, type PresenceBoard } from '../core/live/live-presence.ts';
import { createLiveQueue } from '../core/live/live-queue.ts';
import type { Committed } from '../ports/committed.ts';
import { answerEnded, liveSlotLimits } from '../scheduling/per-account-limits.ts';
import { createPeriodicTask, type PeriodicTask } from '../scheduling/periodic-task.ts';
import { createSlots, ownerText, type Slots } from '../scheduling/slots.ts';
import { mentionsLive } from '../store/base/live-topic.ts';
import { isRoutine } from '../store/base/routine-codes.ts';
import { bareKey } from '../store/events/event-insert.ts';
import {
  type Audience,
  type Audiences,
  createAudiences,
  deviceBatches,
  drainPending,
  type LiveCaller,
  type Reader,
} from './audiences.ts';
import { type ChangeFollower, createChangeFollower } from './changes.ts';
import { createFollower, type Follower } from './follower.ts';
import { openStream } from './opening.ts';
import { createComposer, type LiveSelection, type Texts } from './selection.ts';
import { createLiveStream, type LiveStream } from './stream.ts';
import { createLiveWatch, devicesOf, type LiveWatchOptions } from './watch.ts';

export interface LiveHubOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Other processes commit events too. */
  readonly isShared: boolean;
  readonly callerOf: LiveWatchOptions['callerOf'];
  onCommitted(listener: (committed: Committed) => void): Cancel;
  onCommit(listener: (commit: CommitNotice) => void): Cancel;
}

export interface LiveRequest extends LiveSelection {
  readonly caller: LiveCaller;
  /** Aborts when the client has left: the stream ends and its slot is free. */
  readonly until: AbortSignal;
  /** Number of the last message seen; null: begin now; NaN: it is no number. */
  readonly after: number | null;
}

export interface LiveHub {
  /** Takes a slot and opens a stream, to be read once. @throws AppError `throttled`, `storage`. */
  open(request: LiveRequest): Promise<AsyncIterable<Uint8Array>>;
  /** Streams that are open. */
  count(): number;
  /** Ends every stream. */
  close(): void;
}

const beatMs = 1000;
const watchMs = 2000;
/** Events are given to readers this often at most; other changes, which are read from the store, this often after a commit, and without one. */
const gatherMs = 20;
const changesGatherMs = 50;
const changesMs = 1000;
/** Without a read of the changes for this long no stream gets a sign of life: what its client shows may be old. */
const unreadMs = 3000;
/** Readers written to at once, and the pause between: thousands of readers must never delay vehicles' reports. */
const wakesEach = 50;
const wakesMs = 4;

interface HubState {
  readonly options: LiveHubOptions;
  readonly slots: Slots;
  readonly audiences: Audiences;
  readonly board: PresenceBoard;
  readonly follower: Follower;
  readonly changes: ChangeFollower;
  /** Audiences with messages that wait for the next flush. */
  readonly unflushed: Set<Audience>;
  flushedMs: number;
  cancelFlush: Cancel | null;
  /** Readers in whose queues something waits, until they are woken. */
  readonly unwoken: Set<Reader>;
  cancelWake: Cancel | null;
  beats: number;
  /** When the changes were last read, monotonic ms. */
  readMs: number;
  isClosed: boolean;
}

function eventOf(
  committed: Committed,
  event: FleetEvent,
  { eventNo, boot }: { readonly eventNo: number; readonly boot: string | undefined },
): LiveEvent {
  const { device, receivedMs } = committed;
  return {
    eventNo,
    accountID: device.accountID,
    deviceNo: device.deviceNo,
    deviceID: device.deviceID,
    boot: boot ?? committed.boot ?? bareKey(event, receivedMs).boot,
    seq: event.seq,
    timestampMs: event.timestamp ?? receivedMs,
    receivedMs,
    statusCode: event.statusCode,
    latitude: event.latitude ?? null,
    longitude: event.longitude ?? null,
    speed: event.speed ?? null,
    heading: event.heading ?? null,
    geozoneID: event.geozoneID ?? '',
    commandID: event.commandID ?? null,
    commandState: event.commandState ?? null,
  };
}

/** Wakes a reader, or ends its stream when its queue overflows. */
function wake({ options }: HubState, { caller, queue, stream }: Reader): void {
  stream.wake();
  if (!queue.isOverflowing()) return;
  const { accountID, userID } = caller;
  options.log.warn('live_reader_too_slow', { accountID, userID });
  stream.end();
}

function wakeSome(hub: HubState): void {
  hub.cancelWake = null;
  let woken = 0;
  for (const reader of hub.unwoken) {
    hub.unwoken.delete(reader);
    wake(hub, reader);
    woken += 1;
    if (woken === wakesEach) break;
  }
  if (hub.unwoken.size > 0) hub.cancelWake = hub.options.clock.after(wakesMs, () => wakeSome(hub));
}

/** The first readers at once, the others a little later together with what comes for them meanwhile. */
function wakeSoon(hub: HubState): void {
  if (hub.cancelWake === null) wakeSome(hub);
}

/** Gives the readers what waits for them. */
function flush(hub: HubState): void {
  hub.cancelFlush?.();
  hub.cancelFlush = null;
  hub.flushedMs = hub.options.clock.monoMs();
  const audiences = [...hub.unflushed];
  hub.unflushed.clear();
  for (const audience of audiences) {
    const batch = drainPending(audience);
    if (batch === null) continue;
    for (const reader of audience.readers) {
      reader.queue.offer(batch);
      hub.unwoken.add(reader);
    }
  }
  wakeSoon(hub);
}

/** At once after a pause, else a little later together with what comes meanwhile. */
function flushSoon(hub: HubState): void {
  if (hub.unflushed.size === 0 || hub.cancelFlush !== null) return;
  const { clock } = hub.options;
  const restMs = hub.flushedMs + gatherMs - clock.monoMs();
  if (restMs <= 0) return flush(hub);
  hub.cancelFlush = clock.after(restMs, () => flush(hub));
}

function add(
  hub: HubState,
  audience: Audience,
  message: { readonly no: number | null; readonly text: string },
) {
  if (message.text === '') return;
  audience.pending.push(message);
  hub.unflushed.add(audience);
}

/** Offers events to the readers that may see and want them. */
function offerEvents(hub: HubState, events: readonly LiveEvent[]): void {
  for (const event of events) {
    const texts: Texts = new Map();
    for (const audience of hub.audiences.of(event.accountID, event.deviceNo))
      add(hub, audience, { no: event.eventNo, text: audience.composer.event(event, texts) });
  }
  flushSoon(hub);
}

function handleCommitted(hub: HubState, committed: Committed): void {
  const { device, fresh, eventNos, boots, receivedMs, projection } = committed;
  if (fresh.length === 0) return;
  const isRead = hub.audiences.of(device.accountID, device.deviceNo).length > 0;
  if (isRead && !hub.options.isShared) hub.board.record({ ...device, receivedMs, projection });
  const makeEvents = (): readonly LiveEvent[] =>
    fresh.flatMap((one, index) => {
      const eventNo = eventNos[index];
      const isSent = isRead && eventNo !== undefined && !isRoutine(one.statusCode);
      return isSent ? [eventOf(committed, one, { eventNo, boot: boots?.[index] })] : [];
    });
  hub.follower.handleCommit(eventNos, makeEvents);
}

function offerPresences(hub: HubState, presences: readonly Presence[]): void {
  const found = new Map<Audience, Map<number, string>>();
  for (const presence of presences) {
    const texts: Texts = new Map();
    for (const audience of hub.audiences.of(presence.accountID, presence.deviceNo)) {
      const text = audience.composer.device(presence, texts);
      if (text === '') continue;
      const ofAudience = found.get(audience) ?? new Map<number, string>();
      found.set(audience, ofAudience.set(presence.deviceNo, text));
    }
  }
  for (const [audience, texts] of found) {
    const batches = deviceBatches(hub.beats, texts);
    for (const reader of audience.readers) {
      for (const batch of batches) reader.queue.offerDevices(batch);
      hub.unwoken.add(reader);
    }
  }
  wakeSoon(hub);
}

/** With several processes device states are read from the store, which has those of all processes. */
async function offerStoredPresences(hub: HubState): Promise<void> {
  const { board, follower, audiences } = hub;
  for await (const page of follower.presences(audiences.accounts())) {
    for (const { heartbeatMs: receivedMs, position, fuel, ...device } of page)
      board.record({ ...device, receivedMs, projection: { position, fuel } });
  }
  offerPresences(hub, board.drain());
}

async function offerChanges(hub: HubState): Promise<void> {
  const { audiences, changes, options } = hub;
  if (audiences.count() === 0) {
    hub.readMs = options.clock.monoMs();
    return changes.skip();
  }
  const offer = (change: LiveChange): void => {
    const texts: Texts = new Map();
    for (const audience of audiences.of(change.accountID, change.deviceNo))
      add(hub, audience, { no: null, text: audience.composer.change(change, texts) });
  };
  try {
    await changes.read(audiences.wants, offer);
    hub.readMs = options.clock.monoMs();
  } catch (thrown) {
    options.log.error('live_state_unreadable', { reason: messageOf(thrown) });
  }
  flushSoon(hub);
}

/** The sign of life of each second. */
function sendKeepAlive(hub: HubState): void {
  // All that was committed up to this number is offered by then, and nothing newer.
  flush(hub);
  const upTo = hub.follower.sentUpTo();
  for (const reader of hub.audiences.readers()) {
    reader.queue.offerComment(keepAlive(Math.max(reader.startNo, upTo)));
    hub.unwoken.add(reader);
  }
  wakeSoon(hub);
}

async function beat(hub: HubState): Promise<void> {
  hub.beats += 1;
  const presences = hub.board.drain();
  if (hub.audiences.count() === 0) return;
  try {
    offerPresences(hub, presences);
    await offerStoredPresences(hub);
    if (hub.options.clock.monoMs() - hub.readMs <= unreadMs) sendKeepAlive(hub);
  } catch (thrown) {
    hub.options.log.error('live_state_unreadable', { reason: messageOf(thrown) });
  }
}

/** Limits an audience to these devices; where that is a change, its readers get a `reset` message. */
function showOnly(hub: HubState, audience: Audience, deviceNos: ReadonlySet<number>): void {
  const known = audience.deviceNos;
  const isSame =
    known === null || (known.size === deviceNos.size && [...known].every((one) => deviceNos.has(one)));
  if (isSame) return;
  audience.deviceNos = deviceNos;
  add(hub, audience, { no: null, text: resetMessage({ reason: 'scope' }) });
  flush(hub);
}

async function open(hub: HubState, request: LiveRequest): Promise<LiveStream> {
  const { caller, until, after, kinds, deviceIDs, codes, fields } = request;
  const { db, clock } = hub.options;
  const { scope } = caller;
  const selection: LiveSelection = { kinds, deviceIDs, codes, fields };
  if (hub.isClosed) throw new AppError('unavailable', 'The service is stopping', { retryAfterS: 5 });
  if (until.aborted) throw answerEnded();
  const ended = new AbortController();
  // Whatever fails below, the slot is freed when the answer has ended.
  until.addEventListener('abort', () => ended.abort(), { once: true });
  const full = hub.slots.take(caller, ended.signal);
  if (full !== null) {
    const message = `${liveSlotLimits[full]} live streams are open for ${ownerText[full]} already`;
    throw new AppError('throttled', message, {
      retryAfterS: 10,
      hint: 'Share one stream between the views of a client, and close those that are not read.',
    });
  }
  // Read before the reader is added, so that later commits find its devices.
  const deviceNos = await devicesOf(db, scope);
  const queue = createLiveQueue();
  const opening = openStream({
    db,
    nowMs: clock.utcMs(),
    scope,
    after,
    composer: createComposer(scope, selection),
    onStart: (upTo) => {
      reader.startNo = upTo;
      queue.startAfter(upTo);
    },
  });
  const onEnd = (): void => {
    hub.audiences.remove(reader, audience);
    hub.unwoken.delete(reader);
    ended.abort();
  };
  const stream = createLiveStream({ queue, opening, onEnd });
  const reader: Reader = { caller, queue, stream, startNo: 0 };
  const audience = hub.audiences.add(reader, selection, deviceNos);
  if (until.aborted) stream.end();
  else until.addEventListener('abort', stream.end, { once: true });
  await hub.follower.attend().catch((thrown: unknown) => {
    stream.end();
    throw thrown;
  });
  return stream;
}

/** Runs `run` periodically. */
function repeat(clock: Clock, everyMs: number, run: () => Promise<void>, wakeMs?: number): PeriodicTask {
  const gather = wakeMs === undefined ? {} : { gatherMs: wakeMs };
  return createPeriodicTask({ clock, firstMs: everyMs, run: () => run().then(() => everyMs), ...gather });
}

export function createLiveHub(options: LiveHubOptions): LiveHub {
  const { db, clock, log } = options;
  const audiences = createAudiences((audience, deviceNos) => showOnly(hub, audience, deviceNos));
  const hub: HubState = {
    options,
    slots: createSlots(liveSlotLimits),
    audiences,
    board: createPresenceBoard(),
    follower: createFollower({
      ...options,
      hasReaders: () => audiences.count() > 0,
      offer: (events) => offerEvents(hub, events),
    }),
    changes: createChangeFollower(db, clock),
    unflushed: new Set(),
    flushedMs: Number.NEGATIVE_INFINITY,
    cancelFlush: null,
    unwoken: new Set(),
    cancelWake: null,
    beats: 0,
    readMs: clock.monoMs(),
    isClosed: false,
  };
  const watch = createLiveWatch({
    db,
    clock,
    log,
    audiences,
    showOnly: (audience, deviceNos) => showOnly(hub, audience, deviceNos),
    callerOf: options.callerOf,
  });
  const changes = repeat(clock, changesMs, () => offerChanges(hub), changesGatherMs);
  const tasks = [changes, repeat(clock, beatMs, () => beat(hub)), repeat(clock, watchMs, watch)];
  const stops = [
    options.onCommitted((committed) => handleCommitted(hub, committed)),
    options.onCommit(({ topics }) => {
      if (mentionsLive(topics) && audiences.count() > 0) changes.wake();
    }),
  ];
  return {
    open: (request) => open(hub, request),
    count: () => audiences.count(),
    close() {
      hub.isClosed = true;
      for (const stop of stops) stop();
      for (const task of tasks) void task.close();
      hub.cancelFlush?.();
      hub.cancelWake?.();
      hub.follower.close();
      for (const { stream } of audiences.readers()) stream.end();
    },
  };
}
