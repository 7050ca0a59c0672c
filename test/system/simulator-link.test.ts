// The network of a run between a client and a server: good, slow, lossy, silent, stalled and out, and never another byte than was
// sent, nor in another order.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { type LinkProxy, noLinkFaults, openLinkProxy } from '../../simulator/run/link/link-proxy.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

let server: Server;
let proxy: LinkProxy;
const far: Socket[] = [];
const opened: Socket[] = [];

/** A server that sends back what it gets. */
beforeEach(async () => {
  far.length = 0;
  server = createServer((socket) => {
    far.push(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const entropy = createSeededEntropy('link');
  proxy = await openLinkProxy({ host: '127.0.0.1', port, clock: createSystemClock(), entropy });
});
afterEach(async () => {
  for (const socket of [...opened.splice(0), ...far]) socket.destroy();
  await proxy.close();
  await new Promise((done) => server.close(done));
});

interface Client {
  readonly socket: Socket;
  text(): string;
  isClosed(): boolean;
}

async function open(): Promise<Client> {
  const socket = connect(proxy.port, '127.0.0.1');
  opened.push(socket);
  let text = '';
  let isClosed = false;
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.on('error', () => undefined);
  socket.once('close', () => {
    isClosed = true;
  });
  await new Promise((done) => socket.once('connect', done));
  return { socket, text: () => text, isClosed: () => isClosed };
}

const lines = Array.from({ length: 50 }, (_, at) => `line ${at}\n`);

describe('the network of a run', () => {
  it.each([
    ['good', {}],
    ['slow', { delayMs: 100 }],
    ['lossy', { loss: 0.3 }],
  ])('that is %s changes no byte and no order', async (_, change) => {
    proxy.setFaults({ ...noLinkFaults, ...change });
    const client = await open();
    for (const line of lines) {
      client.socket.write(line);
      await sleep(2);
    }
    await waitUntil('every line', () => client.text().length >= lines.join('').length);
    expect(client.text()).toBe(lines.join(''));
  });

  it('closes connections and refuses new ones while it is down', async () => {
    const before = await open();
    before.socket.write('a');
    await waitUntil('the byte', () => before.text() === 'a');
    proxy.setFaults({ ...noLinkFaults, isOut: true });
    await waitUntil('the end of the connection', before.isClosed);
    const during = await open();
    await waitUntil('the refusal', during.isClosed);
    proxy.setFaults(noLinkFaults);
    const after = await open();
    after.socket.write('b');
    await waitUntil('the byte', () => after.text() === 'b');
  });

  it('takes bytes without an answer while it is silent, and closes the connection when the fault ends', async () => {
    const client = await open();
    client.socket.write('a');
    await waitUntil('the byte', () => client.text() === 'a');
    proxy.setFaults({ ...noLinkFaults, isSilent: true });
    client.socket.write('lost');
    await sleep(300);
    expect([client.text(), client.isClosed(), far[0]?.destroyed]).toEqual(['a', false, false]);
    // The vehicle gives up; the broker's end does not hear of it.
    client.socket.destroy();
    await sleep(100);
    expect(far[0]?.destroyed).toBe(false);
    proxy.setFaults(noLinkFaults);
    await waitUntil('the end of the far connection', () => far[0]?.destroyed === true);
  });

  it('fills the buffers of the sender while the client does not read, and delivers when it reads again', async () => {
    const client = await open();
    proxy.setFaults({ ...noLinkFaults, isStalled: true });
    client.socket.write('a');
    await sleep(300);
    expect(client.text()).toBe('');
    proxy.setFaults(noLinkFaults);
    await waitUntil('the byte', () => client.text() === 'a');
  });
});
