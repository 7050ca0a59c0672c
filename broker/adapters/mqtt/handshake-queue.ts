// Queue from the acceptance of a connection to MQTT. A connection waits at almost no cost until its first bytes; then handshakes
// begin first in, first out, for some milliseconds of each loop turn. A storm of connections must never hold up those that are
// connected, and a silent, slow or closed one must never hold up the next.
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
  /** Most connections in the queue. */
  readonly waitingMost: number;
  /** Handshakes that were begun within `placeMs` and are not done, at most: what can come back to us at one moment. */
  readonly atWorkMost: number;
  /** Work on handshakes in one loop turn, in ms; the last one may take longer. */
  readonly turnMs: number;
  /** From the acceptance to the first bytes, in ms. */
  readonly silentMs: number;
  /** From the acceptance to the begin of the handshake, in ms: vehicles give up after 20 s, and the handshake is still to come. */
  readonly waitMs: number;
  /** A handshake that takes longer frees its slot and goes on, in ms: slow networks, silent clients. */
  readonly placeMs: number;
  /** From the begin of the handshake to MQTT, in ms. */
  readonly arrivalMs: number;
}

/** 128 at work with answers after 150 ms are 850 a second: more than a core can do. With certificates of clients the answer costs
 * more than a millisecond, and all of them may come in one turn. */
export const handshakeLimits: HandshakeLimits = {
  waitingMost: 10_000,
  atWorkMost: 128,
  turnMs: 10,
  silentMs: 10_000,
  waitMs: 18_000,
  placeMs: 1000,
  arrivalMs: 10_000,
};

/** Bytes that are taken from a connection that waits; it reads on as long as there are fewer. */
const heldMost = 2048;
const nothing = Buffer.alloc(0);

export interface HandshakeQueueOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: HandshakeLimits;
  /** The first bytes are a TLS record; else any byte will do. */
  readonly isTls: boolean;
  /** Begins the handshake: the bytes that were read are in the stream again. */
  readonly take: (socket: Socket) => void;
  /** It is about to be ended: the queue was full, or it has waited for too long. */
  readonly onRefused: () => void;
}

export interface HandshakeQueue {
  /** Takes a connection that was just accepted. */
  expect(socket: Socket): void;
  /** Its handshake of TLS is done or has failed. */
  handshakeEnded(socket: Socket): void;
  /** It has reached MQTT: nothing of the queue stays with it. */
  arrived(socket: Socket): void;
  /** Connections in the queue. */
  waiting(): number;
  endAll(): void;
}

/** A TLS socket and the raw one below it have this in common, and no other pair on the port has it. */
const nameOf = (socket: Socket): string => `${socket.remoteAddress} ${socket.remotePort}`;

/** What the waiting connections of one listener share. */
interface Host {
  readonly options: HandshakeQueueOptions;
  onFirstBytes(arrival: WaitingConnection): void;
  onGone(arrival: WaitingConnection): void;
}

/** A class for its memory alone: ten thousand may wait. */
class WaitingConnection {
  readonly name: string;
  readonly socket: Socket;
  readonly acceptedMs: number;
  readonly #host: Host;
  /** All that was received so far. */
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

  /** The next thing that happens unless something else does. */
  expectWithin(ms: number, otherwise: () => void): void {
    this.#cancel();
    this.#cancel = this.#host.options.clock.after(ms, otherwise);
  }

  /** Puts back what was read, and stops reading. */
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

  /** Reading on while it waits shows that the client has closed. */
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
    // A TLS socket looks in the next tick at what was read before it was there: its work is in the time of the piece.
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
      // One connection must not be the end of all that come after it.
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
