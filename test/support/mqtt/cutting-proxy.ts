// A mobile link between an agent and the broker, on loopback: passes bytes on, and breaks after an exact number of them in
// one direction, or swallows everything from there on while the connection looks alive.

import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

export interface Cut {
  readonly direction: 'up' | 'down';
  /** Bytes of that direction that still arrive. */
  readonly afterBytes: number;
  readonly how: 'break' | 'swallow';
}

export interface CuttingProxy {
  readonly port: number;
  /** How the next connection ends; null: it holds. */
  cut: Cut | null;
  /** Connections taken so far, and those that met their cut. */
  readonly counts: { taken: number; cut: number };
  /** Bytes of the connection that lasted longest, by direction. */
  readonly most: { up: number; down: number };
  close(): Promise<void>;
}

export async function startCuttingProxy(brokerPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const counts = { taken: 0, cut: 0 };
  const most = { up: 0, down: 0 };
  const server = createServer((near) => {
    const { cut } = proxy;
    counts.taken += 1;
    const far = connect(brokerPort, '127.0.0.1');
    const passed = { up: 0, down: 0 };
    let isCut = false;
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    const pass = (direction: Cut['direction'], chunk: Buffer): void => {
      if (isCut) return;
      const left = cut?.direction === direction ? cut.afterBytes - passed[direction] : chunk.length + 1;
      const to = direction === 'up' ? far : near;
      passed[direction] += Math.min(left, chunk.length);
      most[direction] = Math.max(most[direction], passed[direction]);
      if (chunk.length < left) return void to.write(chunk);
      isCut = true;
      counts.cut += 1;
      // Ended only when the last bytes are out, so that exactly these arrive.
      to.write(chunk.subarray(0, left), () => {
        if (cut?.how === 'break') end();
      });
    };
    near.on('data', (chunk: Buffer) => pass('up', chunk));
    far.on('data', (chunk: Buffer) => pass('down', chunk));
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: CuttingProxy = {
    port: (server.address() as AddressInfo).port,
    cut: null,
    counts,
    most,
    close: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  return proxy;
}
