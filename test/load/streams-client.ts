// Apps of the streams bench, a process of its own: plain sockets that each read one live stream and count what comes. No HTTP
// client, which would be the first to be saturated. Orders come over the IPC channel; each is answered once.
import { connect, type Socket } from 'node:net';
import { serveOrders } from './measured-process.ts';

export interface StreamsOrder {
  readonly kind: 'open' | 'count' | 'drop';
  readonly port?: number;
  readonly tokens?: readonly string[];
}

export interface StreamsAnswer {
  /** Streams whose `hello` has come, and that are still open. */
  readonly open: number;
  readonly bytes: number;
  /** Messages of all streams since the last question, by the blank line behind each. */
  readonly messages: number;
}

/** Connections of one address, below the limit of a source. */
const eachAddress = 200;
const openMs = 60_000;

let sockets: Socket[] = [];
let [isOpen, bytes, messages] = [0, 0, 0];

function openOne(port: number, token: string, index: number): Promise<void> {
  const localAddress = `127.0.0.${2 + Math.floor(index / eachAddress)}`;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  socket.write(
    `GET /api/v1/events/stream/authorization HTTP/1.1\r\nHost: bench\r\nAuthorization: ${token}\r\n\r\n`,
  );
  return new Promise((resolve, reject) => {
    let head = '';
    let hasBegun = false;
    socket.on('error', reject);
    socket.on('close', () => {
      if (hasBegun) isOpen -= 1;
      else reject(new Error(`a stream was refused: ${head.slice(0, 300)}`));
    });
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      for (let at = chunk.indexOf('\n\n'); at >= 0; at = chunk.indexOf('\n\n', at + 2)) messages += 1;
      if (hasBegun) return;
      head += chunk.toString('latin1');
      if (!head.includes('event: hello')) return;
      hasBegun = true;
      head = '';
      isOpen += 1;
      resolve();
    });
  });
}

async function open({ port = 0, tokens = [] }: StreamsOrder): Promise<void> {
  const late = setTimeout(() => process.exit(1), openMs);
  for (let first = 0; first < tokens.length; first += 20) {
    const some = tokens.slice(first, first + 20);
    await Promise.all(some.map((token, at) => openOne(port, token, first + at)));
  }
  clearTimeout(late);
}

async function carryOut(order: StreamsOrder): Promise<StreamsAnswer> {
  if (order.kind === 'open') await open(order);
  if (order.kind === 'drop') {
    for (const socket of sockets) socket.destroy();
    sockets = [];
  }
  const answer = { open: isOpen, bytes, messages };
  [bytes, messages] = [0, 0];
  return answer;
}

serveOrders(carryOut);
