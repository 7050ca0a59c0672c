// Queue from the acceptance of a connection to MQTT. A connection waits at almost no cost until its first bytes. Handshakes then begin first in,
// first out, for some milliseconds of each loop turn. A storm of connections must never delay connected clients, and a silent, slow or closed
// connection must never delay the next.
import type { Socket } from 'node:net';
import { messageOf } from '../../../src/core/errors.ts';
import type { Cancel, Clock, Log } from '../../../src/ports.ts';
import {
  createHandshakeOrder,
  firstRecordMost,
  type HandshakeOrder,
  hasFirstRecord,
} from '../../core/mqtt/handshake-order.ts';
import { createLoopPace } from './loop-pace.ts';

export interface HandshakeLimits {
  /** Maximum number of connections in the queue. */
  readonly waitingMost: number;
  /** Maximum number of unfinished handshakes that began within `placeMs`: all of these may come back at one moment. */
  readonly atWorkMost: number;
  /** Time for handshakes in one loop turn, ms; the last one may take longer. */
  readonly turnMs: number;
  /** Maximum time from the acceptance to the first bytes, ms. */
  readonly silentMs: number;
  /** Maximum time from the acceptance to the start of the handshake, ms: vehicles give up after 20 s, and the handshake is still to come. */
  readonly waitMs: number;
  /** Time after which a slow handshake frees its slot and continues, ms: slow networks, silent clients. */
  readonly placeMs: number;
  /** Maximum time from the start of the handshake to MQTT, ms. */
  readonly arrivalMs: number;
}

/**
 * 128 in progress with answers after 150 ms are 850 a second: more than a core can do. With client certificates the answer costs more than a
 * millisecond, and all of them may come in one turn.
 */
export const handshakeLimits: HandshakeLimits = {
  waitingMost: 10_000,
  atWorkMost: 128,
  turnMs: 10,
  silentMs: 10_000,
  waitMs: 18_000,
  placeMs: 1000,
  arrivalMs: 10_000,
};

/** Bytes to read from a waiting connection; reading continues below this. */
const heldMost = 2048;
const nothing = Buffer.alloc(0);

export interface HandshakeQueueOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: HandshakeLimits;
  /** The first bytes are a TLS record; otherwise any byte counts. */
  readonly isTls: boolean;
  /** Starts the handshake: the bytes that were read are in the stream again. */
  readonly take: (socket: Socket) => void;
  /** The connection is about to be ended: the queue was full, or it has waited for too long. */
  readonly onRefused: () => void;
}

export interface HandshakeQueue {
  /** Adds a connection that was just accepted. */
  expect(socket: Socket): void;
  /** Its TLS handshake is done or has failed. */
  handshakeEnded(socket: Socket): void;
  /** It has reached MQTT: removes everything of the queue from it. */
  arrived(socket: Socket): void;
  waiting(): number;
  endAll(): void;
}

/** A TLS socket and its raw socket share this name, and no other pair on the port has it. */
const nameOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;

/** Members shared by the waiting connections of one listener. */
interface Host {
  readonly options: HandshakeQueueOptions;
  onFirstBytes(arrival: WaitingConnection): void;
  onGone(arrival: WaitingConnection): void;
}

/** A class instead of closures, to save memory: ten thousand may wait. */
class WaitingConnection {
  readonly name: string;
  readonly socket: Socket;
  readonly acceptedMs: number;
  readonly #host: Host;
  /** Everything received so far. */
  #received: Buffer = nothing;
  #hasFirstBytes = false;
  #cancel: Cancel;

  constructor(host: Host, socket: Socket) {
    const { clock, limits } = host.options;
    this.#host = host;
    this.socket = socket;
    this.name = nameOf(socket);
    this.acceptedMs = clock.monoMs();
    this.#cancel = clock.after(limits.silentMs, this.#end);
    socket.on('readable', this.#read);
    socket.on('close', this.#gone);
  }

  /** Sets the time-out of the present phase, in place of the previous one. */
  expectWithin(ms: number, otherwise: () => void): void {
    this.#cancel();
    this.#cancel = this.#host.options.clock.after(ms, otherwise);
  }

  /** Returns the read bytes to the stream, and stops reading. */
  assign(): void {
    this.socket.removeListener('readable', this.#read);
    this.socket.unshift(this.#received);
    this.#received = nothing;
  }

  forget(): void {
    this.#cancel();
    this.socket.removeListener('readable', this.#read);
    this.socket.removeListener('close', this.#gone);
  }

  readonly #end = (): void => void this.socket.destroy();
  readonly #gone = (): void => this.#host.onGone(this);

  /** Reading while it waits detects a client that has closed. */
  readonly #read = (): void => {
    while (this.#received.length < (this.#hasFirstBytes ? heldMost : firstRecordMost)) {
      const chunk = this.socket.read() as Buffer | null;
      if (chunk === null) return;
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      if (!this.#hasFirstBytes && (!this.#host.options.isTls || hasFirstRecord(this.#received))) {
        this.#hasFirstBytes = true;
        return this.#host.onFirstBytes(this);
      }
    }
  };
}

class Queue implements HandshakeQueue, Host {
  readonly options: HandshakeQueueOptions;
  readonly #all = new Map<string, WaitingConnection>();
  readonly #order: HandshakeOrder<WaitingConnection>;
  readonly #work: () => void;

  constructor(options: HandshakeQueueOptions) {
    const { clock, limits } = options;
    this.options = options;
    this.#order = createHandshakeOrder(limits);
    // A TLS socket processes earlier bytes in the next tick: this work counts to the time of the step.
    this.#work = createLoopPace({ clock, turnMs: limits.turnMs, step: () => this.#beginNext() });
  }

  expect(socket: Socket): void {
    const arrival = new WaitingConnection(this, socket);
    this.#all.set(arrival.name, arrival);
  }

  handshakeEnded(socket: Socket): void {
    const arrival = this.#all.get(nameOf(socket));
    if (arrival !== undefined) this.#leave(arrival);
  }

  arrived(socket: Socket): void {
    const arrival = this.#all.get(nameOf(socket));
    if (arrival !== undefined) this.onGone(arrival);
  }

  waiting(): number {
    return this.#order.waiting();
  }

  endAll(): void {
    for (const { socket } of this.#all.values()) socket.destroy();
  }

  onFirstBytes(arrival: WaitingConnection): void {
    const { clock, limits } = this.options;
    if (!this.#order.enter(arrival)) return this.#refuse(arrival);
    const leftMs = arrival.acceptedMs + limits.waitMs - clock.monoMs();
    arrival.expectWithin(Math.max(0, leftMs), () => this.#refuse(arrival));
    this.#work();
  }

  onGone(arrival: WaitingConnection): void {
    if (this.#all.get(arrival.name) === arrival) this.#all.delete(arrival.name);
    arrival.forget();
    this.#leave(arrival);
  }

  #leave(arrival: WaitingConnection): void {
    this.#order.leave(arrival);
    this.#work();
  }

  #refuse({ socket }: WaitingConnection): void {
    this.options.onRefused();
    socket.destroy();
  }

  #beginNext(): boolean {
    const arrival = this.#order.next();
    if (arrival === null) return false;
    const { limits, take, isTls, log } = this.options;
    const { socket } = arrival;
    arrival.expectWithin(limits.placeMs, () => {
      arrival.expectWithin(limits.arrivalMs - limits.placeMs, () => void socket.destroy());
      this.#leave(arrival);
    });
    arrival.assign();
    try {
      take(socket);
    } catch (thrown) {
      // One connection must not end all later ones.
      log.error('handshake_failed', { reason: messageOf(thrown) });
      socket.destroy();
    }
    if (!isTls) this.#order.leave(arrival);
    return true;
  }
}

export function createHandshakeQueue(options: HandshakeQueueOptions): HandshakeQueue {
  return new Queue(options);
}
