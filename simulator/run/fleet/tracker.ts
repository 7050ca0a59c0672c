// A light tracker, for load of connections and ingest: no agent and no hardware, only events at their intended times in raw MQTT
// packets. A PUBACK means that the broker has stored the event; events without one are sent again on the next connection.

import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { FleetEvent } from '../../../src/core/events/event.ts';
import { encodeProtobuf } from '../../../src/core/events/event-protobuf.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { hexId } from '../../../src/core/ids.ts';
import type { Cancel, Clock, Entropy } from '../../../src/ports.ts';
import { vehicleBreach } from '../../core/ledger/breach.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { EventNote } from '../../core/ledger/ledger-types.ts';
import type { SeededEntropy } from '../../core/random.ts';
import {
  type Answer,
  connectBytes,
  disconnectBytes,
  pingBytes,
  publishBytes,
  readAnswers,
} from '../../core/traffic/mqtt-packets.ts';
import type { ScriptedEvent } from '../../core/traffic/recording.ts';
import { type RunTime } from '../shared/run-ports.ts';

export interface TrackerOptions {
  readonly clock: Clock;
  readonly time: RunTime;
  readonly ledger: Ledger;
  /** Positions and times, from the seed. */
  readonly entropy: SeededEntropy;
  /** Not seeded: boot ids differ from run to run. */
  readonly agentEntropy: Entropy;
  readonly accountID: string;
  readonly deviceID: string;
  readonly secret: string;
  /** `mqtt://host:port` or `mqtts://host:port`. */
  readonly url: string;
  /** PEM of the authority to trust; null: those of the system. */
  readonly ca: string | null;
  readonly everyMs: number;
  readonly hasJitter: boolean;
  /** Events to send, by time; null: a random event every `everyMs`. */
  readonly script: readonly ScriptedEvent[] | null;
  /** It connects at a random moment within this. */
  readonly connectSpreadMs: number;
  onAcknowledged(notes: readonly EventNote[], nowMs: number): void;
}

export interface Tracker {
  readonly deviceID: string;
  isUp(): boolean;
  cutLink(): void;
  /** From now on `factor` times the planned rate; 0: pings only. */
  setRate(factor: number): void;
  /** Makes no further event; waiting ones are still delivered. */
  stopActivity(): void;
  close(): Promise<void>;
}

/** Events that wait for their PUBACK; one that is dropped beyond this fails the run. */
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
  rate: number;
  /** Events of the script that were made. */
  played: number;
  retry: Cancel;
  timer: Cancel;
  ping: Cancel;
}

/** An event with a position near the centre, drawn from the seed. */
function randomEvent(state: State, seq: number): FleetEvent {
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

function handleAnswer(state: State, answer: Answer): void {
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

function handleClose(state: State): void {
  const { options } = state;
  if (state.phase === 'up') options.ledger.link(options.deviceID, false, options.time.nowMs());
  state.socket = null;
  state.inFlight = 0;
  state.messageIds.clear();
  if (state.phase === 'closed') return;
  state.phase = 'down';
  const mostMs = Math.min(backoff.mostMs, backoff.firstMs * 2 ** state.failures);
  state.failures = Math.min(10, state.failures + 1);
  // Full jitter, as in the agent; without it, all trackers that broke off together come back together.
  const delayMs = options.hasJitter ? options.entropy.fraction() * mostMs : mostMs;
  state.retry = options.clock.after(delayMs, () => open(state));
}

const keepaliveOf = ({ options }: State): number =>
  Math.min(65_535, Math.max(keepaliveLeastS, Math.ceil((3 * options.everyMs) / 1000)));

function openSocket({ url, ca }: TrackerOptions): Socket {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'mqtts:') return connect({ host, port: Number(port || 1883), noDelay: true });
  const trust = ca === null ? {} : { ca };
  // SNI takes no IP address (RFC 6066 section 3).
  const name = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port: Number(port || 8883), ...trust, ...name });
}

function open(state: State): void {
  const { options } = state;
  if (state.phase !== 'down') return;
  state.phase = 'connecting';
  const socket = openSocket(options);
  state.socket = socket;
  state.unread = new Uint8Array(0);
  const user = `${options.accountID}/${options.deviceID}`;
  const keepaliveS = keepaliveOf(state);
  socket.setTimeout(connectTimeoutMs, () => {
    if (state.phase === 'connecting') socket.destroy();
  });
  const ready = options.url.startsWith('mqtts:') ? 'secureConnect' : 'connect';
  socket.once(ready, () => socket.write(connectBytes({ user, secret: options.secret, keepaliveS })));
  socket.on('data', (chunk: Uint8Array) => {
    const read = readAnswers(state.unread, chunk);
    if (read === null) return void socket.destroy();
    state.unread = read.rest;
    for (const answer of read.answers) handleAnswer(state, answer);
  });
  socket.on('error', () => undefined); // `close` follows
  socket.once('close', () => handleClose(state));
}

/** A recorded event with the present time. */
function replayedEvent(state: State, seq: number, of: ScriptedEvent): FleetEvent {
  const { clock, time } = state.options;
  const { latitude, longitude, speedKmh, headingDeg, statusCode } = of;
  return {
    seq,
    timestamp: Math.round(clock.utcMs()),
    upMs: Math.round(time.nowMs()),
    timeQuality: 'gnss',
    statusCode,
    ...(latitude === null || longitude === null ? {} : { latitude, longitude }),
    speed: speedKmh,
    heading: headingDeg,
  };
}

/** Makes one event, stored at its intended time `dueMs`, and sends it as soon as the window allows. */
function make(state: State, dueMs: number, createEvent: (seq: number) => FleetEvent): void {
  const { ledger, deviceID } = state.options;
  if (state.waiting.length < waitingMost) {
    state.seq += 1;
    const event = createEvent(state.seq);
    state.waiting.push(event);
    ledger.stored(deviceID, state.boot, { events: [event], atMs: dueMs });
    flush(state);
  } else {
    const words = `${waitingMost} events wait for their PUBACK: the event of ${(dueMs / 1000).toFixed(3)} s was dropped`;
    ledger.breach(vehicleBreach('dropped', deviceID, words));
  }
}

/** Makes the due events of the script and sets the timer of the next. */
function play(state: State, script: readonly ScriptedEvent[]): void {
  const { clock, time } = state.options;
  for (let next = script[state.played]; next !== undefined; next = script[state.played]) {
    const event = next;
    const inMs = event.atMs - time.nowMs();
    if (inMs > 0) {
      state.timer = clock.after(inMs, () => play(state, script));
      return;
    }
    state.played += 1;
    make(state, event.atMs, (seq) => replayedEvent(state, seq, event));
  }
}

/** Makes one event and sets the timer of the next by its intended time, however late this one was. */
function tick(state: State, dueMs: number): void {
  const { clock, time, everyMs } = state.options;
  make(state, dueMs, (seq) => randomEvent(state, seq));
  const nextMs = dueMs + everyMs / state.rate;
  state.timer = clock.after(Math.max(0, nextMs - time.nowMs()), () => tick(state, nextMs));
}

/** PINGREQ at half the keepalive, for rates below the planned one. */
function keepAlive(state: State): void {
  state.ping = state.options.clock.after(keepaliveOf(state) * 500, () => {
    if (state.phase === 'up') state.socket?.write(pingBytes);
    keepAlive(state);
  });
}

function setRate(state: State, factor: number): void {
  const { clock, time, entropy, everyMs } = state.options;
  state.rate = factor;
  state.timer();
  state.ping();
  if (factor < 1) keepAlive(state);
  if (factor === 0) return;
  // Spread over one interval: the rate of all trackers changes at the same moment.
  const delayMs = (entropy.fraction() * everyMs) / factor;
  const nextMs = time.nowMs() + delayMs;
  state.timer = clock.after(delayMs, () => tick(state, nextMs));
}

/** Connects and sends for the first time at moments drawn from the seed. */
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
    rate: 1,
    played: 0,
    retry: nothing,
    timer: nothing,
    ping: nothing,
  };
  ledger.addVehicle(deviceID);
  const connectMs = entropy.fraction() * options.connectSpreadMs;
  state.retry = clock.after(connectMs, () => open(state));
  const firstMs = time.nowMs() + connectMs + entropy.fraction() * options.everyMs;
  const { script } = options;
  const begin = (): void => (script === null ? tick(state, firstMs) : play(state, script));
  state.timer = clock.after(script === null ? firstMs - time.nowMs() : 0, begin);
  return {
    deviceID,
    isUp: () => state.phase === 'up',
    cutLink: () => void state.socket?.destroy(),
    setRate: (factor) => setRate(state, factor),
    stopActivity: () => state.timer(),
    async close() {
      ledger.stopping(deviceID, time.nowMs());
      state.timer();
      state.ping();
      state.retry();
      state.phase = 'closed';
      state.socket?.end(disconnectBytes);
      state.socket?.destroySoon();
    },
  };
}
