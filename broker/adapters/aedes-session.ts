// One logged-in MQTT connection on top of aedes: strictly first-in first-out answers, a cap on what is in flight up and
// down. It must never answer what is not stored, nor anything after a failure.
import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceRef } from '../store/devices.ts';
import type { Reader } from './aedes-reader.ts';

/** Messages with QoS 1 that may wait for the acknowledgement of one client. */
export const unacknowledgedMost = 64;

/** True when the client has subscribed to exactly this topic. */
export function listensTo(client: Client, topic: string): boolean {
  // aedes keeps them in an object without a prototype; its types do not show it.
  const { subscriptions } = client as unknown as {
    readonly subscriptions: Readonly<Record<string, unknown>>;
  };
  return subscriptions[topic] !== undefined;
}

/** Work in flight over all connections. */
export interface Pressure {
  inFlight: number;
  /** Bytes of their payloads. */
  bytes: number;
  readonly highest: number;
  readonly highestBytes: number;
  /** Who waits for it to go down, in the order in which they get their turn. */
  readonly waiting: Set<() => void>;
}

const isHigh = ({ inFlight, bytes, highest, highestBytes }: Pressure): boolean =>
  inFlight >= highest || bytes >= highestBytes;
const isCalm = ({ inFlight, bytes, highest, highestBytes }: Pressure): boolean =>
  inFlight <= highest / 2 && bytes <= highestBytes / 2;

/** False while there is room. Else true, and `wake` is called when there is room again. */
export function holdFor(pressure: Pressure, wake: () => void): boolean {
  if (!isHigh(pressure)) return false;
  pressure.waiting.add(wake);
  return true;
}

/** Lets those who wait go on, one after the other: whoever fills it up again waits behind the others. */
function relieve(pressure: Pressure): void {
  if (!isCalm(pressure)) return;
  for (const wake of pressure.waiting) {
    if (isHigh(pressure)) return;
    pressure.waiting.delete(wake);
    wake();
  }
}

/** A publish that came in. */
export interface Work {
  /** Bytes of its payload. */
  readonly bytes: number;
  readonly run: () => Promise<void>;
  readonly answer: () => void;
}

export interface Session {
  readonly device: DeviceRef;
  readonly client: Client;
  readonly socket: Duplex;
  /** Where it comes from, see `networkOf`. */
  readonly network: string;
  /**
   * Takes a publish: it runs at once, and is answered when it and all before it are done. When one fails the connection
   * ends and nothing further is answered: the device sends it all again.
   */
  take(work: Work): void;
  /** Messages with QoS 1 that were sent and not acknowledged. */
  unacknowledged: number;
  /** Stops reading for good, for the shutdown. */
  halt(): void;
  /** Resolves when everything taken so far is answered or the connection is gone. */
  idle(): Promise<void>;
}

/** What the sessions of one server share. */
export interface SessionRules {
  readonly pressure: Pressure;
  /** Publishes of one connection in flight before it is paused; it goes on at half of that. */
  readonly inFlightMost: number;
  onFailure(device: DeviceRef, reason: string): void;
}

interface SessionParts {
  readonly device: DeviceRef;
  readonly client: Client;
  readonly socket: Duplex;
  readonly reader: Reader;
  readonly network: string;
}

const settled: Promise<void> = Promise.resolve();

/** A class for its memory alone: there is one for every vehicle that is connected. */
class VehicleSession implements Session {
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
  #tail = settled;

  constructor(rules: SessionRules, { device, client, socket, reader, network }: SessionParts) {
    this.device = device;
    this.client = client;
    this.socket = socket;
    this.network = network;
    this.#reader = reader;
    this.#rules = rules;
  }

  take(work: Work): void {
    this.#started(work.bytes);
    // `async` turns a throw into a rejection: an exception inside an aedes hook would end the process.
    const running = (async () => work.run())();
    running.catch(() => undefined);
    this.#tail = this.#tail.then(() => this.#settle(running, work));
  }

  halt(): void {
    this.#isHalted = true;
    this.#reader.pause();
  }

  idle(): Promise<void> {
    return this.#tail;
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
    if (this.#isPaused && !this.#isHalted && this.#inFlight <= inFlightMost / 2) {
      this.#isPaused = false;
      this.#reader.resume();
    }
    relieve(pressure);
  }

  async #settle(running: Promise<void>, { bytes, answer }: Work): Promise<void> {
    try {
      await running;
      // A connection that failed before this one's turn gets no further answers.
      if (!this.socket.destroyed) answer();
    } catch (thrown) {
      this.#rules.onFailure(this.device, messageOf(thrown));
      this.socket.destroy();
    } finally {
      this.#ended(bytes);
    }
  }
}

/** The session of an authenticated connection. */
export function createSession(rules: SessionRules, parts: SessionParts): Session {
  return new VehicleSession(rules, parts);
}
