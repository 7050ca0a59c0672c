// The network between some vehicles and their broker: a TCP proxy on loopback that can be down, silent, slow or lossy. It changes no
// byte; its buffers are those of the sockets.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Clock } from '../../../src/ports.ts';

export interface LinkFaults {
  /** Connections are cut, new ones are refused. */
  readonly isOut: boolean;
  /** Bytes vanish both ways without an error, until the connection is given up. */
  readonly isSilent: boolean;
  /** Bytes of the broker are not read: its socket fills. */
  readonly isStalled: boolean;
  /** Delay of every byte in both directions, ms. */
  readonly delayMs: number;
  /** Probability that a chunk is lost: TCP sends it again after its least timeout, and later bytes wait. */
  readonly loss: number;
}

export const noLinkFaults: LinkFaults = {
  isOut: false,
  isSilent: false,
  isStalled: false,
  delayMs: 0,
  loss: 0,
};

export interface LinkProxy {
  readonly port: number;
  setFaults(faults: LinkFaults): void;
  close(): Promise<void>;
}

export interface LinkProxyOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly entropy: { chance(probability: number): boolean };
}

/** Least retransmission timeout of Linux (tcp_rto_min). */
const retransmitMs = 200;

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** Bytes were lost while it was silent: the stream cannot go on. */
  isBroken: boolean;
}

interface Chunk {
  readonly dueMs: number;
  readonly chunk: Buffer;
}

/** One direction: each chunk when it is due. Timers of equal delay may fire out of order, so a queue keeps the order. */
function createDirection(options: LinkProxyOptions, pair: Pair, of: { from: Socket; to: Socket }) {
  const queue: Chunk[] = [];
  let lastMs = 0;
  const flush = (): void => {
    const nowMs = options.clock.monoMs();
    while (queue[0] !== undefined && queue[0].dueMs <= nowMs) {
      const next = queue.shift();
      if (next === undefined || of.to.destroyed || pair.isBroken) continue;
      if (of.to.write(next.chunk)) continue;
      of.from.pause();
      of.to.once('drain', () => of.from.resume());
    }
    // A timer may fire a fraction of a millisecond early.
    if (queue[0] !== undefined) options.clock.after(Math.max(1, queue[0].dueMs - nowMs), flush);
  };
  return (chunk: Buffer, faults: LinkFaults): void => {
    if (faults.isSilent) pair.isBroken = true;
    if (pair.isBroken) return;
    const nowMs = options.clock.monoMs();
    const lostMs = options.entropy.chance(faults.loss) ? retransmitMs : 0;
    lastMs = Math.max(lastMs, nowMs + faults.delayMs + lostMs);
    queue.push({ dueMs: lastMs, chunk });
    if (queue.length === 1) flush();
  };
}

/** Listens on a free port of 127.0.0.1. */
export async function openLinkProxy(options: LinkProxyOptions): Promise<LinkProxy> {
  let faults = noLinkFaults;
  const pairs = new Set<Pair>();
  const end = (pair: Pair): void => {
    pairs.delete(pair);
    pair.near.destroy();
    pair.far.destroy();
  };
  const server = createServer((near) => {
    if (faults.isOut) {
      near.destroy();
      return;
    }
    const far = connect(options.port, options.host);
    const pair: Pair = { near, far, isBroken: false };
    pairs.add(pair);
    const up = createDirection(options, pair, { from: near, to: far });
    const down = createDirection(options, pair, { from: far, to: near });
    near.on('data', (chunk: Buffer) => up(chunk, faults));
    far.on('data', (chunk: Buffer) => down(chunk, faults));
    if (faults.isStalled) far.pause();
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', () => end(pair));
      // A half-open link does not report a close; the pair ends with the fault.
      socket.on('close', () => {
        if (!pair.isBroken || !faults.isSilent) end(pair);
      });
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    setFaults(change) {
      const before = faults;
      faults = change;
      for (const pair of pairs) {
        if (faults.isOut || (pair.isBroken && !faults.isSilent)) end(pair);
        else if (faults.isStalled) pair.far.pause();
        else if (before.isStalled) pair.far.resume();
      }
    },
    close() {
      for (const pair of pairs) end(pair);
      return new Promise((done) => server.close(() => done()));
    },
  };
}
