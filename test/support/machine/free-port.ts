// TCP ports of 127.0.0.1 that stay free until their program listens, also while it is stopped or killed in between.
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';

const host = '127.0.0.1';

/**
 * Below the ports that Linux gives to outgoing connections (`ip_local_port_range`, 32768 and up), one of which could take the port of a
 * killed program before its next start, and below those of the simulator's own broker.
 */
const range = { first: 10_000, end: 16_384 };
const triesMost = 1000;

/** The UDP socket on the same number tells test processes apart: the kernel ends it with its process. Null: taken. */
async function reserve(port: number): Promise<Socket | null> {
  const socket = createSocket('udp4');
  try {
    socket.bind({ port, address: host, exclusive: true });
    await once(socket, 'listening');
    const server = createServer();
    server.listen(port, host);
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return socket.unref();
  } catch {
    socket.close();
    return null;
  }
}

/** A port that no other call of any test process on this machine gets while this process lives. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMost; tries += 1) {
    const port = randomInt(range.first, range.end);
    if ((await reserve(port)) !== null) return port;
  }
  throw new Error(`no free port among ${range.first} to ${range.end - 1} of ${host}`);
}

/** So many ports of that kind. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}
