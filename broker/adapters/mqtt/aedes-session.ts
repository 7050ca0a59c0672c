// One logged-in MQTT connection on top of aedes: strictly first-in first-out answers, a cap on what is in flight up and
// down. It must never answer what is not stored, nor anything after a failure.
import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import { messageOf } from '../../../src/core/errors.ts';
import type { Completion } from '../../core/completion.ts';
import { encodePubacks, readPublish, uplinkVerbAt } from '../../core/mqtt/mqtt-publish.ts';
import type { MqttServerOptions } from '../../ports/mqtt-server.ts';
import type { DeviceRef } from '../../store/devices/devices.ts';
import { refreshKeepAlive, whenDrained } from './aedes-internals.ts';
import type { PublishLane, Reader } from './aedes-reader.ts';

/** Messages with QoS 1 that may wait for the acknowledgement of one client. */
export const unacknowledgedMost = 64;

/** Work in flight over all connections. */
export interface Pressure {
  inFlight: number;
  /** Bytes of their payloads. */
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

/** False while there is capacity. Else true, and `wake` is called when there is some again. */
export function holdFor(pressure: Pressure, wake: () => void): boolean {
  if (!isHigh(pressure)) return false;
  pressure.waiting.add(wake);
  return true;
}

/** Resumes waiting connections one after the other: one that fills it up again waits behind the others. */
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
  /** Where it comes from, see `networkOf`. */
  readonly network: string;
  /** Messages with QoS 1 that were sent and not acknowledged. */
  unacknowledged: number;
  /** Stops reading for good, for the shutdown. */
  halt(): void;
  /** Resolves when everything taken so far is answered or the connection is gone. */
  idle(): Promise<void>;
}

/** Sessions with answers to write: they are written together at the end of the loop turn, those of one connection in one write. */
export interface AnswerBatch {
  readonly sessions: VehicleSession[];
}

/** What the sessions of one server share. */
export interface SessionRules {
  readonly pressure: Pressure;
  readonly answers: AnswerBatch;
  /** Publishes of one connection in flight before it is paused; it goes on at half of that. */
  readonly inFlightMost: number;
  readonly onUplink: MqttServerOptions['onUplink'];
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
  /** Of its payload. */
  readonly bytes: number;
  /** 0: it gets no PUBACK. */
  readonly packetId: number;
  state: 'open' | 'done' | 'failed' = 'open';
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

function writeAnswers(answers: AnswerBatch): void {
  const sessions = answers.sessions.splice(0);
  for (const session of sessions) session.flush();
}

/** A class for its memory alone: there is one for every vehicle that is connected. */
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
  /** It does not read what it is sent. */
  #isStalled = false;
  #oldest: OpenPublish | null = null;
  #newest: OpenPublish | null = null;
  /** Packet ids to acknowledge at the end of the loop turn. */
  #toAnswer: number[] | null = null;
  #waiting: (() => void)[] | null = null;

  constructor(rules: SessionRules, { device, client, socket, reader, network }: SessionParts) {
    this.device = device;
    this.client = client;
    this.socket = socket;
    this.network = network;
    this.#reader = reader;
    this.#rules = rules;
  }

  /**
   * Takes a publish on one of the device's own topics: it is answered when it and all before it are done. When one fails the
   * connection ends and nothing further is answered: the device sends it all again.
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
    this.#started(payload.length);
    try {
      this.#rules.onUplink(this.device, { verb, payload }, taken);
    } catch (thrown) {
      // It would end the process, and with it all connections.
      taken.fail(thrown);
    }
    return true;
  }

  /** [MQTT-3.1.2-24]: whatever the client sends keeps its connection alive. */
  onInput(): void {
    refreshKeepAlive(this.client);
  }

  halt(): void {
    this.#isHalted = true;
    this.#reader.pause();
  }

  idle(): Promise<void> {
    if (this.#oldest === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting ??= [];
      this.#waiting.push(resolve);
    });
  }

  /** Answers those that are done and have none before them that is not. */
  answerFinished(): void {
    for (let taken = this.#oldest; taken !== null && taken.state !== 'open'; taken = this.#oldest) {
      this.#oldest = taken.next;
      // One that is gone must not hold, for the garbage collector, whatever came after it.
      taken.next = null;
      if (this.#oldest === null) this.#newest = null;
      if (taken.state === 'done') this.#answer(taken.packetId);
      else this.#fail(taken.thrown);
      this.#ended(taken.bytes);
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
    // Those before it are stored. Whatever comes after it finds the connection ended.
    this.flush();
    this.socket.destroy();
  }

  #started(bytes: number): void {
    const { pressure, inFlightMost } = this.#rules;
    this.#inFlight += 1;
    pressure.inFlight += 1;
    pressure.bytes += bytes;
    if (this.#inFlight < inFlightMost || this.#isPaused) return;
    this.#isPaused = true;
    this.#reader.pause();
  }

  #ended(bytes: number): void {
    const { pressure, inFlightMost } = this.#rules;
    this.#inFlight -= 1;
    pressure.inFlight -= 1;
    pressure.bytes -= bytes;
    if (this.#isPaused && this.#inFlight <= inFlightMost / 2) {
      this.#isPaused = false;
      this.#goOn();
    }
    relieve(pressure);
  }

  #goOn(): void {
    if (!this.#isPaused && !this.#isHalted && !this.#isStalled) this.#reader.resume();
  }
}

/** The session of an authenticated connection, which takes its publishes from now on. */
export function createSession(rules: SessionRules, parts: SessionParts): Session {
  const session = new VehicleSession(rules, parts);
  parts.reader.serve(session);
  return session;
}
