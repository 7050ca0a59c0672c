// A light vehicle: no agent, no hardware, only events at their intended times through raw MQTT packets, for pure load of connections
// and ingest. A PUBACK is all the answer that it gets and means "on disk"; what has none is sent again on the next connection.
import { connect, type Socket } from 'node:net';
import type { FleetEvent } from '../../src/core/event.ts';
import { encodeProtobuf } from '../../src/core/event-protobuf.ts';
import { hexId } from '../../src/core/ids.ts';
import { statusCodes } from '../../src/core/status-codes.ts';
import type { Cancel, Clock, Entropy } from '../../src/ports.ts';
import type { Ledger } from '../core/ledger.ts';
import type { EventNote } from '../core/ledger-types.ts';
import {
  type Answer,
  connectBytes,
  disconnectBytes,
  publishBytes,
  readAnswers,
} from '../core/mqtt-packets.ts';
import type { SeededEntropy } from '../random.ts';
import type { RunTime } from './fleet-vehicle.ts';

export interface TrackerOptions {
  readonly clock: Clock;
  readonly time: RunTime;
  readonly ledger: Ledger;
  /** The world: where it is, and when it sends. */
  readonly entropy: SeededEntropy;
  /** Boot ids must differ from run to run. */
  readonly agentEntropy: Entropy;
  readonly accountID: string;
  readonly deviceID: string;
  readonly secret: string;
  /** `mqtt://host:port`. */
  readonly url: string;
  readonly everyMs: number;
  /** It connects at a random moment within this. */
  readonly connectSpreadMs: number;
  onAcknowledged(notes: readonly EventNote[], nowMs: number): void;
}

export interface Tracker {
  readonly deviceID: string;
  isUp(): boolean;
  cutLink(): void;
  /** Makes no further events; those that wait are still delivered. */
  rest(): void;
  close(): Promise<void>;
}

/** Events that wait for their PUBACK; a tracker has no more memory, and what it gives up fails the run. */
const waitingMost = 1000;
/** Sent on one connection and not answered yet. */
const windowMost = 20;
const keepaliveLeastS = 60;
const backoff = { firstMs: 1000, mostMs: 30_000 } as const;
const connectTimeoutMs = 20_000;

interface State {
  readonly options: TrackerOptions;
  readonly boot: string;
  /** In order; the first `inFlight` of them are on their way. */
  readonly waiting: FleetEvent[];
  readonly messageIds: Map<number, number>;
  socket: Socket | null;
  unread: Uint8Array;
  phase: 'down' | 'connecting' | 'up' | 'closed';
  inFlight: number;
  seq: number;
  failures: number;
  retry: Cancel;
  timer: Cancel;
}

/** The event of a moment: a position near the centre, drawn from the seed. */
function eventOf(state: State, seq: number): FleetEvent {
  const { clock, time, entropy } = state.options;
  return {
    seq,
    timestamp: Math.round(clock.utcMs()),
    upMs: Math.round(time.nowMs()),
    timeQuality: 'gnss',
    statusCode: statusCodes.LOCATION.code,
    latitude: Math.round((43.6 + entropy.fraction() / 10) * 1e7) / 1e7,
    longitude: Math.round((-79.4 + entropy.fraction() / 10) * 1e7) / 1e7,
    speed: entropy.integer(0, 90),
    heading: entropy.integer(0, 359),
  };
}

function flush(state: State): void {
  const { options, boot, waiting, socket } = state;
  const { ledger, time, accountID, deviceID } = options;
  if (state.phase !== 'up' || socket === null) return;
  while (state.inFlight < Math.min(windowMost, waiting.length)) {
    const event = waiting[state.inFlight];
    if (event === undefined) return;
    const messageId = (event.seq % 65_535) + 1;
    state.messageIds.set(messageId, event.seq);
    ledger.sent(deviceID, boot, { events: [event], atMs: time.nowMs() });
    const { payload } = encodeProtobuf(boot, [event]);
    socket.write(publishBytes(`fleet/v1/${accountID}/${deviceID}/events`, payload, messageId));
    state.inFlight += 1;
  }
}

function take(state: State, answer: Answer): void {
  const { options, boot, waiting, messageIds } = state;
  const { ledger, time, deviceID } = options;
  if (answer.kind === 'connack') {
    if (answer.returnCode !== 0) return void state.socket?.destroy();
    state.phase = 'up';
    state.failures = 0;
    ledger.link(deviceID, true, time.nowMs());
    flush(state);
  } else if (answer.kind === 'puback') {
    const seq = messageIds.get(answer.messageId);
    const at = waiting.findIndex((event) => event.seq === seq);
    if (seq === undefined || at < 0 || at >= state.inFlight) return;
    messageIds.delete(answer.messageId);
    waiting.splice(at, 1);
    state.inFlight -= 1;
    const nowMs = time.nowMs();
    options.onAcknowledged(ledger.acknowledged(deviceID, boot, { ranges: [[seq, seq]], atMs: nowMs }), nowMs);
    flush(state);
  }
}

function down(state: State): void {
  const { options } = state;
  if (state.phase === 'up') options.ledger.link(options.deviceID, false, options.time.nowMs());
  state.socket = null;
  state.inFlight = 0;
  state.messageIds.clear();
  if (state.phase === 'closed') return;
  state.phase = 'down';
  const mostMs = Math.min(backoff.mostMs, backoff.firstMs * 2 ** state.failures);
  state.failures = Math.min(10, state.failures + 1);
  // Full jitter, as agents do it.
  state.retry = options.clock.after(options.entropy.fraction() * mostMs, () => open(state));
}

function open(state: State): void {
  const { options } = state;
  if (state.phase !== 'down') return;
  state.phase = 'connecting';
  const { hostname, port } = new URL(options.url);
  const socket = connect({ host: hostname, port: Number(port || 1883), noDelay: true });
  state.socket = socket;
  state.unread = new Uint8Array(0);
  const user = `${options.accountID}/${options.deviceID}`;
  const keepaliveS = Math.min(65_535, Math.max(keepaliveLeastS, Math.ceil((3 * options.everyMs) / 1000)));
  socket.setTimeout(connectTimeoutMs, () => {
    if (state.phase === 'connecting') socket.destroy();
  });
  socket.once('connect', () => socket.write(connectBytes({ user, secret: options.secret, keepaliveS })));
  socket.on('data', (chunk: Uint8Array) => {
    const read = readAnswers(state.unread, chunk);
    if (read === null) return void socket.destroy();
    state.unread = read.rest;
    for (const answer of read.answers) take(state, answer);
  });
  socket.on('error', () => undefined); // `close` follows
  socket.once('close', () => down(state));
}

/** One more event now, and the next at its intended time, however late this one was. */
function tick(state: State, dueMs: number): void {
  const { clock, time, ledger, deviceID, everyMs } = state.options;
  if (state.waiting.length < waitingMost) {
    state.seq += 1;
    const event = eventOf(state, state.seq);
    state.waiting.push(event);
    ledger.stored(deviceID, state.boot, { events: [event], atMs: dueMs });
    flush(state);
  } else {
    const words = `${waitingMost} events wait for their PUBACK: the one of ${(dueMs / 1000).toFixed(3)} s was given up`;
    ledger.breach({ kind: 'dropped', deviceID, factNo: null, eventID: null, commandID: null, words });
  }
  const nextMs = dueMs + everyMs;
  state.timer = clock.after(Math.max(0, nextMs - time.nowMs()), () => tick(state, nextMs));
}

/** Starts it: it connects and sends for the first time at moments that the seed draws. */
export function startTracker(options: TrackerOptions): Tracker {
  const { clock, time, ledger, entropy, deviceID } = options;
  const nothing: Cancel = () => undefined;
  const state: State = {
    options,
    boot: hexId(options.agentEntropy.bytes(8)),
    waiting: [],
    messageIds: new Map(),
    socket: null,
    unread: new Uint8Array(0),
    phase: 'down',
    inFlight: 0,
    seq: 0,
    failures: 0,
    retry: nothing,
    timer: nothing,
  };
  ledger.addVehicle(deviceID);
  const connectMs = entropy.fraction() * options.connectSpreadMs;
  state.retry = clock.after(connectMs, () => open(state));
  const firstMs = time.nowMs() + connectMs + entropy.fraction() * options.everyMs;
  state.timer = clock.after(firstMs - time.nowMs(), () => tick(state, firstMs));
  return {
    deviceID,
    isUp: () => state.phase === 'up',
    cutLink: () => void state.socket?.destroy(),
    rest: () => state.timer(),
    async close() {
      ledger.stopping(deviceID, time.nowMs());
      state.timer();
      state.retry();
      state.phase = 'closed';
      state.socket?.end(disconnectBytes);
      state.socket?.destroySoon();
    },
  };
}
