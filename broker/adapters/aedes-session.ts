// One MQTT connection on top of aedes: strictly first-in first-out answers, a cap on what is in flight, a limit on
// packet size that also holds before authentication. It leans on three internals of aedes 1.2 (`_parser`, `pause`,
// `resume`), named in one interface here; a test holds each of them.
import type { Duplex } from 'node:stream';
import type { Client } from 'aedes';
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceRef } from '../store/devices.ts';

/** What we use of aedes that its types do not show. */
interface Internals {
  readonly _parser: { parse(bytes: Uint8Array): number; readonly packet: { readonly length: number } };
  readonly subscriptions: Readonly<Record<string, unknown>>;
  pause(): void;
  resume(): void;
}

const internalsOf = (client: Client): Internals => client as unknown as Internals;

/** Bytes of one packet: a full payload, its topic and its header. */
const packetMost = 64 * 1024 + 1024;

/** Ends the connection as soon as a packet claims more than we take, whatever its kind and whoever sends it. */
export function guardPacketSize(client: Client, onTooLong: (claimed: number) => void): void {
  const parser = internalsOf(client)._parser;
  const parse = parser.parse.bind(parser);
  parser.parse = (bytes) => {
    const rest = parse(bytes);
    if (parser.packet.length > packetMost) onTooLong(parser.packet.length);
    return rest;
  };
}

/** True when the client has subscribed to exactly this topic. */
export function listensTo(client: Client, topic: string): boolean {
  return internalsOf(client).subscriptions[topic] !== undefined;
}

/** Work in flight over all connections. */
export interface Pressure {
  inFlight: number;
  readonly highest: number;
  readonly waiting: Set<Session>;
}

export interface Session {
  readonly device: DeviceRef;
  readonly client: Client;
  readonly socket: Duplex;
  /**
   * Takes a publish: `work` starts at once, `answer` runs when it and all before it are done. When work fails the
   * connection ends and nothing further is answered: the device sends it all again.
   */
  take(work: () => Promise<void>, answer: () => void): void;
  /** Stops reading for good, for the shutdown. */
  halt(): void;
  /** Resolves when everything taken so far is answered or the connection is gone. */
  idle(): Promise<void>;
  /** Reads again after the common pressure has gone down. */
  relieve(): void;
}

export interface SessionOptions {
  readonly device: DeviceRef;
  readonly client: Client;
  readonly socket: Duplex;
  readonly pressure: Pressure;
  /** Publishes of one connection in flight before it is paused; it goes on at half of that. */
  readonly inFlightMost: number;
  readonly onFailure: (reason: string) => void;
}

/** The session of an authenticated connection. */
export function createSession(options: SessionOptions): Session {
  const { device, client, socket, pressure, inFlightMost, onFailure } = options;
  const internals = internalsOf(client);
  let inFlight = 0;
  let isPaused = false;
  let isHalted = false;
  let tail: Promise<void> = Promise.resolve();

  const resumeIfCalm = (): void => {
    if (!isPaused || isHalted || socket.destroyed || inFlight > inFlightMost / 2) return;
    if (pressure.inFlight > pressure.highest / 2) {
      pressure.waiting.add(session);
      return;
    }
    isPaused = false;
    internals.resume();
  };
  const started = (): void => {
    inFlight += 1;
    pressure.inFlight += 1;
    if (!isPaused && (inFlight >= inFlightMost || pressure.inFlight >= pressure.highest)) {
      isPaused = true;
      internals.pause();
    }
  };
  const ended = (): void => {
    inFlight -= 1;
    pressure.inFlight -= 1;
    resumeIfCalm();
    if (pressure.waiting.size === 0 || pressure.inFlight > pressure.highest / 2) return;
    const waiting = [...pressure.waiting];
    pressure.waiting.clear();
    for (const other of waiting) other.relieve();
  };
  const fail = (thrown: unknown): void => {
    onFailure(messageOf(thrown));
    socket.destroy();
  };
  const settle = async (work: Promise<void>, answer: () => void): Promise<void> => {
    try {
      await work;
      // A connection that failed before this one's turn gets no further answers.
      if (!socket.destroyed) answer();
    } catch (thrown) {
      fail(thrown);
    } finally {
      ended();
    }
  };
  const session: Session = {
    device,
    client,
    socket,
    take(work, answer) {
      started();
      const before = tail;
      // `async` turns a throw into a rejection: an exception inside an aedes hook would end the process.
      const running = (async () => work())();
      running.catch(() => undefined);
      tail = before.then(() => settle(running, answer));
    },
    halt() {
      isHalted = true;
      internals.pause();
    },
    idle: () => tail,
    relieve: resumeIfCalm,
  };
  return session;
}
