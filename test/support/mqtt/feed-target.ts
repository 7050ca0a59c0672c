// The broker that a feed publishes into, as bytes: what it got, in order, and how it misbehaves.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { generate, parser } from 'mqtt-packet';

/** `refuses`: answers that the login is wrong; `closes`: right after the login; `hangs`: never answers; `holds`: no PUBACK. */
export type TargetMode = 'takes' | 'refuses' | 'closes' | 'hangs' | 'holds';

export interface Received {
  readonly topic: string;
  readonly text: string;
  readonly isRetained: boolean;
  readonly clientID: string;
}

export interface FeedReceiver {
  readonly port: number;
  readonly received: readonly Received[];
  /** Connections that were made. */
  connections(): number;
  setMode(mode: TargetMode): void;
  /** Acknowledges the first of what it holds. */
  release(count: number): void;
  /** Ends every connection, after what was written. */
  end(): void;
  /** Ends every connection at once. */
  drop(): void;
  close(): Promise<void>;
}

/** Starts on a free port of this machine. */
export async function startFeedReceiver(): Promise<FeedReceiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let held: (() => void)[] = [];
  let mode: TargetMode = 'takes';
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    connections += 1;
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    let clientID = '';
    const packets = parser({ protocolVersion: 4 });
    packets.on('packet', (packet) => {
      if (packet.cmd === 'connect') {
        clientID = packet.clientId;
        if (mode === 'hangs') return;
        const returnCode = mode === 'refuses' ? 5 : 0;
        socket.write(generate({ cmd: 'connack', returnCode, sessionPresent: false }));
        if (mode === 'closes') socket.end();
      } else if (packet.cmd === 'publish') {
        const { topic, payload, retain: isRetained, messageId } = packet;
        received.push({ topic, text: String(payload), isRetained, clientID });
        const acknowledge = (): void =>
          void (messageId !== undefined && socket.write(generate({ cmd: 'puback', messageId })));
        if (mode === 'holds') held.push(acknowledge);
        else if (mode === 'takes') acknowledge();
      } else if (packet.cmd === 'pingreq') socket.write(generate({ cmd: 'pingresp' }));
      else if (packet.cmd !== 'disconnect') throw new Error(`a feed sent ${packet.cmd}`);
    });
    socket.on('data', (chunk) => void packets.parse(chunk));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    held = [];
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    received,
    connections: () => connections,
    setMode(next) {
      mode = next;
    },
    release(count) {
      for (const acknowledge of held.splice(0, count)) acknowledge();
    },
    end() {
      held = [];
      for (const socket of sockets) socket.end();
    },
    drop,
    async close() {
      const closed = once(server, 'close');
      server.close();
      drop();
      await closed;
    },
  };
}

/** Writes the file of a feed as an operator does. */
export function writeFeed(
  folder: string,
  feedID: string,
  settings: Readonly<Record<string, string | number | boolean>>,
): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  writeFileSync(join(folder, `${feedID}.toml`), lines.join(''));
}
