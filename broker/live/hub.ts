// The hub of live streams: one listener to what is committed, by whichever process, and one beat a second for all readers of
// this process. A message is made once and shared. Readers who fall too far behind are cut and resume by the number they saw last.
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { FleetEvent } from '../../src/core/event.ts';
import type { Cancel, Clock, Database, Log, News } from '../../src/ports.ts';
import type { Caller } from '../api/operation.ts';
import {
  commandMessage,
  deviceMessage,
  eventMessage,
  keepAlive,
  type LiveEvent,
} from '../core/live-message.ts';
import { createLivePlaces, type LivePlaces } from '../core/live-places.ts';
import { createPresenceBoard, type Presence, type PresenceBoard } from '../core/live-presence.ts';
import { createLiveQueue } from '../core/live-queue.ts';
import type { Committed } from '../ingest/ingest.ts';
import { bareKey } from '../store/event-insert.ts';
import { commandsSince } from '../store/events-by-number.ts';
import { isRoutine } from '../store/routine-codes.ts';
import { createRounds } from '../work/rounds.ts';
import { createFollower, type Follower } from './follower.ts';
import { openStream } from './opening.ts';
import { createReaders, type LiveWishes, type Reader, type Readers, wants } from './readers.ts';
import { createLiveStream, type LiveStream } from './stream.ts';
import { createLiveWatch, devicesOf } from './watch.ts';

export interface LiveHubOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Other processes commit events too. */
  readonly isShared: boolean;
  onCommitted(listener: (committed: Committed) => void): Cancel;
  onNews(listener: (news: News) => void): Cancel;
}

export interface LiveRequest extends LiveWishes {
  readonly caller: Caller;
  /** Number of the last message seen; null: begin now; NaN: it is no number. */
  readonly after: number | null;
}

export interface LiveHub {
  /** Takes a place and opens a stream, to be read once. @throws AppError `throttled`, `storage`. */
  open(request: LiveRequest): Promise<AsyncIterable<string>>;
  /** Streams that are open. */
  count(): number;
  /** Ends every stream. */
  close(): void;
}

const beatMs = 1000;
const watchMs = 2000;
const keepAliveBeats = 15;
/** A change of a command may be committed so much later than the time that it carries. */
const commandOverlapMs = 5000;

interface Parts {
  readonly options: LiveHubOptions;
  readonly places: LivePlaces;
  readonly readers: Readers;
  readonly board: PresenceBoard;
  readonly follower: Follower;
  /** What was told of commands lately: command id -> its state, and when that came. */
  readonly told: Map<string, { readonly what: string; readonly updatedMs: number }>;
  commandsReadMs: number;
  beats: number;
  isClosed: boolean;
}

function eventOf(committed: Committed, event: FleetEvent, eventNo: number): LiveEvent {
  const { device, boot, receivedMs } = committed;
  return {
    eventNo,
    accountID: device.accountID,
    deviceNo: device.deviceNo,
    deviceID: device.deviceID,
    boot: boot ?? bareKey(event).boot,
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

/** Wakes a reader, or cuts him when more waits for him than may. */
function deliver({ options }: Parts, { caller, queue, stream }: Reader): void {
  stream.wake();
  if (!queue.isOverflowing()) return;
  const { accountID, userID } = caller;
  options.log.warn('live-reader-too-slow', { accountID, userID });
  stream.end();
}

/** Offers events to whom they concern. */
function offerEvents(parts: Parts, events: readonly LiveEvent[]): void {
  const offered = new Set<Reader>();
  for (const event of events) {
    const readers = parts.readers.of(event.accountID, event.deviceNo);
    if (readers.length === 0) continue;
    const text = eventMessage(event);
    for (const reader of readers) {
      if (!wants.event(reader.wishes, event)) continue;
      reader.queue.offer(event.eventNo, text);
      offered.add(reader);
    }
  }
  for (const reader of offered) deliver(parts, reader);
}

function takeCommitted(parts: Parts, committed: Committed): void {
  const { device, fresh, eventNos, receivedMs, projection } = committed;
  if (fresh.length === 0) return;
  const isRead = parts.readers.of(device.accountID, device.deviceNo).length > 0;
  if (isRead && !parts.options.isShared) parts.board.note({ ...device, receivedMs, projection });
  const told = (): readonly LiveEvent[] =>
    fresh.flatMap((one, index) => {
      const eventNo = eventNos[index];
      const isTold = isRead && eventNo !== undefined && !isRoutine(one.statusCode);
      return isTold ? [eventOf(committed, one, eventNo)] : [];
    });
  parts.follower.take(eventNos, told);
}

function offerPresences({ readers }: Parts, presences: readonly Presence[]): void {
  for (const presence of presences) {
    const text = deviceMessage(presence);
    for (const { wishes, queue } of readers.of(presence.accountID, presence.deviceNo)) {
      if (wants.device(wishes, presence)) queue.offerDevice(presence.deviceNo, text);
    }
  }
}

/** With several processes the present is read from the store: what others took in is there alone. */
async function offerStoredPresences(parts: Parts): Promise<void> {
  const { board, follower, readers } = parts;
  const accountIDs = new Set(readers.all().map(({ caller }) => caller.accountID));
  for await (const page of follower.presences([...accountIDs])) {
    for (const { heartbeatMs: receivedMs, position, fuel, ...device } of page)
      board.note({ ...device, receivedMs, projection: { position, fuel } });
    offerPresences(parts, board.drain());
  }
}

async function offerCommands(parts: Parts): Promise<void> {
  const { readers, told, options } = parts;
  const sinceMs = parts.commandsReadMs - commandOverlapMs;
  const nowMs = options.clock.utcMs();
  for await (const page of commandsSince(options.db, { scope: null, sinceMs })) {
    for (const command of page) {
      const { commandID, updatedMs } = command;
      const what = `${command.commandState} ${command.detail} ${JSON.stringify(command.verdict)}`;
      const isKnown = told.get(commandID)?.what === what;
      told.set(commandID, { what, updatedMs });
      if (isKnown) continue;
      const text = commandMessage(command);
      for (const { wishes, queue } of readers.of(command.accountID, command.deviceNo)) {
        if (wants.command(wishes, command)) queue.offer(null, text);
      }
    }
  }
  // A clock that stepped back must not look for changes in the future.
  parts.commandsReadMs = nowMs;
  for (const [commandID, { updatedMs }] of told) {
    if (updatedMs < nowMs - 2 * commandOverlapMs) told.delete(commandID);
  }
}

async function beat(parts: Parts): Promise<void> {
  const { readers, options } = parts;
  offerPresences(parts, parts.board.drain());
  if (readers.count() === 0) {
    parts.commandsReadMs = options.clock.utcMs();
    return;
  }
  parts.beats += 1;
  if (parts.beats % keepAliveBeats === 0) {
    // All that was committed up to this number has been offered before.
    for (const { queue, startNo } of readers.all())
      queue.offerComment(keepAlive(Math.max(startNo, parts.follower.toldUpTo())));
  }
  try {
    await offerStoredPresences(parts);
    await offerCommands(parts);
  } catch (thrown) {
    options.log.error('live-present-unread', { reason: messageOf(thrown) });
  }
  for (const reader of readers.all()) deliver(parts, reader);
}

/** Runs `run` for ever with the same rest in between; gives the way to stop. */
function repeat(clock: Clock, everyMs: number, run: () => Promise<void>): Cancel {
  const rounds = createRounds({ clock, firstMs: everyMs, run: () => run().then(() => everyMs) });
  return () => void rounds.close();
}

async function open(parts: Parts, request: LiveRequest): Promise<LiveStream> {
  const { caller, after, deviceIDs, codes, hasDevices } = request;
  const { db, clock } = parts.options;
  const wishes: LiveWishes = { deviceIDs, codes, hasDevices };
  if (parts.isClosed) throw new AppError('unavailable', 'the service is stopping', { retryAfterS: 5 });
  const place = parts.places.take(caller);
  if (!place.isFree) {
    throw new AppError('throttled', `${place.most} live streams are open for this ${place.full} already`, {
      retryAfterS: 10,
      hint: 'Share one stream between the views of a client, and close those that nobody reads.',
    });
  }
  // Read before the reader is entered: what is committed from then on finds his devices.
  const deviceNos = await devicesOf(db, caller.scope).catch((thrown: unknown) => {
    place.release();
    throw thrown;
  });
  const queue = createLiveQueue();
  const opening = openStream({
    db,
    nowMs: clock.utcMs(),
    scope: caller.scope,
    after,
    wants: {
      event: (event) => wants.event(wishes, event),
      device: (presence) => wants.device(wishes, presence),
      command: (command) => wants.command(wishes, command),
    },
    onStart: (upTo) => {
      reader.startNo = upTo;
      queue.startAfter(upTo);
    },
  });
  const onEnd = (): void => {
    parts.readers.remove(reader);
    place.release();
  };
  const stream = createLiveStream({ queue, opening, onEnd });
  const reader: Reader = { caller, wishes, queue, stream, deviceNos, startNo: 0 };
  parts.readers.add(reader);
  await parts.follower.attend().catch((thrown: unknown) => {
    stream.end();
    throw thrown;
  });
  return stream;
}

/** Starts to listen; streams are opened afterwards. */
export function createLiveHub(options: LiveHubOptions): LiveHub {
  const { db, clock, log } = options;
  const readers = createReaders();
  const parts: Parts = {
    options,
    places: createLivePlaces(),
    readers,
    board: createPresenceBoard(),
    follower: createFollower({
      ...options,
      hasReaders: () => readers.count() > 0,
      offer: (events) => offerEvents(parts, events),
    }),
    told: new Map(),
    commandsReadMs: clock.utcMs(),
    beats: 0,
    isClosed: false,
  };
  const stops = [
    options.onCommitted((committed) => takeCommitted(parts, committed)),
    repeat(clock, beatMs, () => beat(parts)),
    repeat(clock, watchMs, createLiveWatch({ db, clock, log, readers })),
  ];
  return {
    open: (request) => open(parts, request),
    count: () => readers.count(),
    close() {
      parts.isClosed = true;
      for (const stop of stops) stop();
      parts.follower.close();
      for (const { stream } of readers.all()) stream.end();
    },
  };
}
