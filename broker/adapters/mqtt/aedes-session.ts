// One logged-in MQTT connection on top of aedes: strictly first-in first-out answers, a cap on what is in flight up and down. It must never answer
// what is not stored, nor anything after a failure.
import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import { messageOf } from '../../../src/core/errors.ts';
import type { Cancel } from '../../../src/ports.ts';
import type { Completion } from '../../core/completion.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import { encodePubacks, readPublish, uplinkVerbAt } from '../../core/mqtt/mqtt-publish.ts';
import type { MqttServerOptions, PublishPacer, Uplink } from '../../ports/mqtt-server.ts';
import { refreshKeepAlive, whenDrained } from './aedes-internals.ts';
import type { PublishLane, Reader } from './aedes-reader.ts';

/** Maximum number of QoS 1 messages that wait for the acknowledgement of one client. */
export const unacknowledgedMost = 64;

/**
 * Maximum size of publishes that wait for the limit of their device, bytes: per connection and in total. Meanwhile the connection is still read, so
 * that its PINGREQ is answered. Beyond the maximum nothing more is read, and TCP holds up the client.
 */
const heldMost = { each: 128 * 1024, all: 64 * 1024 * 1024 } as const;

/** Work in flight over all connections. */
export interface Pressure {
  inFlight: number;
  /** Size of their payloads, bytes. */
  bytes: number;
  readonly highest: number;
  readonly highestBytes: number;
  /** Connections that wait for it to fall, first in, first out. */
  readonly waiting: Set<() => void>;
}

const isHigh = ({ inFlight, bytes, highest, highestBytes }: Pressure): boolean =>
  inFlight >= highest || bytes >= highestBytes;
const isCalm = ({ inFlight, bytes, highest, highestBytes }: Pressure): boolean =>
  inFlight <= highest / 2 && bytes <= highestBytes / 2;

/** False: there is capacity. True: there is none, and `wake` is called when there is some again. */
export function holdFor(pressure: Pressure, wake: () => void): boolean {
  if (!isHigh(pressure)) return false;
  pressure.waiting.add(wake);
  return true;
}

/** Resumes waiting connections in turn: one that fills it up again waits behind the others. */
function relieve(pressure: Pressure): void {
  if (!isCalm(pressure)) return;
  for (const wake of pressure.waiting) {
    if (isHigh(pressure)) return;
    pressure.waiting.delete(wake);
    wake();
  }
}

export interface Session {
  readonly device: DeviceRef;
  readonly client: Client;
  readonly socket: Duplex;
  /** Network of the client, see `networkOf`. */
  readonly network: string;
  /** Number of QoS 1 messages that were sent and not acknowledged. */
  unacknowledged: number;
  /** Stops reading for good, for the shutdown. */
  halt(): void;
  /** Resolves when everything received so far is answered or the connection is gone. */
  idle(): Promise<void>;
}

/** Sessions with answers to write at the end of the loop turn, one write per connection. */
export interface AnswerBatch {
  readonly sessions: VehicleSession[];
}

/** Members shared by the sessions of one server. */
export interface SessionRules {
  readonly pressure: Pressure;
  readonly answers: AnswerBatch;
  /** Number of publishes of one connection in flight at which it is paused; it resumes at half of that. */
  readonly inFlightMost: number;
  readonly onUplink: MqttServerOptions['onUplink'];
  /** Null: no publish waits for the limit of its device. */
  readonly pacer: PublishPacer | null;
  /** Size of these waiting publishes over all connections, bytes. */
  readonly held: { bytes: number };
  onFailure(device: DeviceRef, reason: string): void;
  /** A client does not read its acknowledgements: nothing is read from it until it does. */
  onStall(): void;
}

interface SessionParts {
  readonly device: DeviceRef;
  readonly client: Client;
  readonly socket: Duplex;
  readonly reader: Reader;
  readonly network: string;
}

/** A publish in flight, in a linked list in order of arrival. */
class OpenPublish implements Completion {
  readonly #session: VehicleSession;
  /** Size of its payload. */
  readonly bytes: number;
  /** 0: it gets no PUBACK. */
  readonly packetId: number;
  /** `dropped`: abandoned before it was started, and never answered. */
  state: 'held' | 'open' | 'done' | 'failed' | 'dropped' = 'open';
  /** Set while it is held. */
  uplink: Uplink | null = null;
  thrown: unknown = null;
  next: OpenPublish | null = null;

  constructor(session: VehicleSession, bytes: number, packetId: number) {
    this.#session = session;
    this.bytes = bytes;
    this.packetId = packetId;
  }

  done(): void {
    if (this.state !== 'open') return;
    this.state = 'done';
    this.#session.answerFinished();
  }

  fail(thrown: unknown): void {
    if (this.state !== 'open') return;
    this.state = 'failed';
    this.thrown = thrown;
    this.#session.answerFinished();
  }
}

/** Publishes of one connection that wait for the limit of their device. */
interface HeldPublishes {
  readonly publishes: OpenPublish[];
  bytes: number;
  /** Leaves the queue of waiting devices; null: it is not in it. */
  leave: Cancel | null;
  readonly onClose: () => void;
}

const isOver = ({ state }: OpenPublish): boolean => state !== 'open' && state !== 'held';

function writeAnswers(answers: AnswerBatch): void {
  const sessions = answers.sessions.splice(0);
  for (const session of sessions) session.flush();
}

/** A class instead of closures, to save memory: one instance per connected vehicle. */
class VehicleSession implements Session, PublishLane {
  readonly device: DeviceRef;
  readonly client: Client;
  readonly socket: Duplex;
  readonly network: string;
  readonly #reader: Reader;
  readonly #rules: SessionRules;
  unacknowledged = 0;
  #inFlight = 0;
  #isPaused = false;
  #isHalted = false;
  /** The client does not read what it is sent. */
  #isStalled = false;
  #oldest: OpenPublish | null = null;
  #newest: OpenPublish | null = null;
  /** Packet ids to acknowledge at the end of the loop turn. */
  #toAnswer: number[] | null = null;
  #waiting: (() => void)[] | null = null;
  /** Publishes that wait for the limit of the device, oldest first; null: none. */
  #held: HeldPublishes | null = null;

  constructor(rules: SessionRules, { device, client, socket, reader, network }: SessionParts) {
    this.device = device;
    this.client = client;
    this.socket = socket;
    this.network = network;
    this.#reader = reader;
    this.#rules = rules;
  }

  /**
   * Takes a publish on one of the device's own topics: it is answered when it and all before it are done. When one fails the connection ends and
   * nothing further is answered: the device sends it all again.
   */
  publish(packet: Uint8Array): boolean {
    // Packets after a DISCONNECT are dropped.
    if (this.client.closed) return false;
    const parts = readPublish(packet);
    const { qos, isRetained, packetId } = parts;
    const verb = qos > 1 || isRetained ? null : uplinkVerbAt(packet, parts, this.device);
    if (verb === null) return false;
    const payload = packet.subarray(parts.payload);
    const taken = new OpenPublish(this, payload.length, packetId);
    if (this.#newest === null) this.#oldest = taken;
    else this.#newest.next = taken;
    this.#newest = taken;
    this.#inFlight += 1;
    const uplink = { verb, payload };
    if (this.#mustWait(uplink)) this.#hold(taken, uplink);
    else this.#start(taken, uplink);
    if (this.#isFull()) this.#pause();
    return true;
  }

  /** [MQTT-3.1.2-24]: whatever the client sends keeps its connection alive. */
  onInput(): void {
    refreshKeepAlive(this.client);
  }

  halt(): void {
    this.#isHalted = true;
    this.#reader.pause();
    this.#dropHeld();
  }

  idle(): Promise<void> {
    if (this.#oldest === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** Answers finished publishes, up to the first unfinished one. */
  answerFinished(): void {
    for (let taken = this.#oldest; taken !== null && isOver(taken); taken = this.#oldest) {
      this.#oldest = taken.next;
      // A finished publish must not keep later ones reachable for the garbage collector.
      taken.next = null;
      if (this.#oldest === null) this.#newest = null;
      this.#inFlight -= 1;
      if (taken.state === 'done') this.#answer(taken.packetId);
      else if (taken.state === 'failed') this.#fail(taken.thrown);
      if (taken.state !== 'dropped') this.#relieve(taken.bytes);
    }
    if (this.#isPaused && !this.#isFull(0.5)) {
      this.#isPaused = false;
      this.#goOn();
    }
    if (this.#oldest !== null || this.#waiting === null) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    for (const done of waiting) done();
  }

  /** Writes the answers of this loop turn in one write. */
  flush(): void {
    const packetIds = this.#toAnswer;
    this.#toAnswer = null;
    if (packetIds === null || this.socket.destroyed || !this.socket.writable) return;
    if (this.socket.write(encodePubacks(packetIds)) || this.#isStalled) return;
    this.#isStalled = true;
    this.#rules.onStall();
    this.#reader.pause();
    whenDrained(this.client, () => {
      this.#isStalled = false;
      this.#goOn();
    });
  }

  #answer(packetId: number): void {
    if (packetId === 0) return;
    if (this.#toAnswer !== null) return void this.#toAnswer.push(packetId);
    this.#toAnswer = [packetId];
    const { answers } = this.#rules;
    if (answers.sessions.push(this) === 1) queueMicrotask(() => writeAnswers(answers));
  }

  #fail(thrown: unknown): void {
    this.#rules.onFailure(this.device, messageOf(thrown));
    // Those before it are stored. Later ones find the connection ended.
    this.flush();
    this.socket.destroy();
  }

  #start(taken: OpenPublish, uplink: Uplink): void {
    const { pressure, onUplink } = this.#rules;
    pressure.inFlight += 1;
    pressure.bytes += taken.bytes;
    try {
      onUplink(this.device, uplink, taken);
    } catch (thrown) {
      // An exception would end the process, and with it all connections.
      taken.fail(thrown);
    }
  }

  /** All others wait behind a held one, except those that may overtake. */
  #mustWait(uplink: Uplink): boolean {
    const { pacer } = this.#rules;
    if (pacer === null || (this.#held === null && !pacer.isHeld(this.device))) return false;
    return !pacer.mayOvertake(this.device, uplink);
  }

  /** Answered late, and in order. The payload is copied: a small one would retain everything that was read with it. */
  #hold(taken: OpenPublish, { verb, payload }: Uplink): void {
    taken.state = 'held';
    taken.uplink = { verb, payload: payload.slice() };
    if (this.#held === null) {
      const onClose = (): void => this.#dropHeld();
      this.#held = { publishes: [], bytes: 0, leave: null, onClose };
      this.socket.once('close', onClose);
    }
    this.#held.publishes.push(taken);
    this.#held.bytes += taken.bytes;
    this.#rules.held.bytes += taken.bytes;
    this.#awaitTurn(this.#held);
  }

  #awaitTurn(held: HeldPublishes): void {
    held.leave ??= this.#rules.pacer?.wait(this.device, () => this.#startHeld(held)) ?? null;
  }

  /** Starts the oldest; the rest waits for the next turn. */
  #startHeld(held: HeldPublishes): void {
    held.leave = null;
    const first = held.publishes.shift();
    if (first === undefined) return;
    this.#release(held, first);
    if (held.publishes.length > 0) this.#awaitTurn(held);
    else {
      this.#held = null;
      this.socket.removeListener('close', held.onClose);
    }
  }

  #release(held: HeldPublishes, taken: OpenPublish): void {
    const { uplink } = taken;
    held.bytes -= taken.bytes;
    this.#rules.held.bytes -= taken.bytes;
    taken.uplink = null;
    taken.state = 'open';
    if (uplink !== null) this.#start(taken, uplink);
  }

  /** The client sends unacknowledged publishes again, but not a QoS 0 publish, so one that was read is stored. */
  #dropHeld(): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    held.leave?.();
    this.#rules.held.bytes -= held.bytes;
    for (const taken of held.publishes) {
      const { uplink } = taken;
      taken.uplink = null;
      taken.state = taken.packetId === 0 ? 'open' : 'dropped';
      if (taken.packetId === 0 && uplink !== null) this.#start(taken, uplink);
    }
    this.answerFinished();
  }

  /** True when nothing more may be read for now. @param part of the limits. */
  #isFull(part = 1): boolean {
    const { inFlightMost, held: all } = this.#rules;
    if (this.#inFlight >= inFlightMost * part + (part < 1 ? 1 : 0)) return true;
    const held = this.#held;
    if (held === null) return false;
    // A QoS 0 publish is held by not reading on: nothing else would slow its client.
    return (
      held.bytes >= heldMost.each * part || all.bytes >= heldMost.all || held.publishes.at(-1)?.packetId === 0
    );
  }

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#reader.pause();
  }

  #relieve(bytes: number): void {
    const { pressure } = this.#rules;
    pressure.inFlight -= 1;
    pressure.bytes -= bytes;
    relieve(pressure);
  }

  #goOn(): void {
    if (!this.#isPaused && !this.#isHalted && !this.#isStalled) this.#reader.resume();
  }
}

/** Session of an authenticated connection, which receives its publishes from now on. */
export function createSession(rules: SessionRules, parts: SessionParts): Session {
  const session = new VehicleSession(rules, parts);
  parts.reader.serve(session);
  return session;
}
