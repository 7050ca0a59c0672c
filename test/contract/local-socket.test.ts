// The Unix socket of the agent as a promise: only whole, small, quick requests get an answer; nothing of anybody else is ever
// removed; and nobody outside of owner and group may connect.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalListener, type LocalRequest, socketLimits } from '../../agent/adapters/local-socket.ts';
import { askUnixSocket, listenOnUnixSocket } from '../../agent/adapters/unix-http.ts';

let folder = '';
let path = '';
const listeners: LocalListener[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-socket-'));
  path = join(folder, 'agent.sock');
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close();
  rmSync(folder, { recursive: true, force: true });
});

async function listen(seen: LocalRequest[] = []): Promise<void> {
  const listener = await listenOnUnixSocket(path, async (request) => {
    seen.push(request);
    return { status: 200, contentType: 'application/json', body: '{"good":true}' };
  });
  listeners.push(listener);
}

/** Sends raw bytes and gives what came until the end of the connection. */
function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    let came = '';
    const socket = createConnection({ path }, () => socket.write(Buffer.from(text, 'latin1')));
    socket.on('data', (chunk: Buffer) => {
      came += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(came));
  });
}

describe('the socket', () => {
  it('is for its owner and its group, and is gone after closing', async () => {
    await listen();
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(await askUnixSocket(path, { method: 'GET', path: '/x' })).toEqual({
      status: 200,
      body: '{"good":true}',
    });
    for (const listener of listeners.splice(0)) await listener.close();
    expect(existsSync(path)).toBe(false);
    await expect(askUnixSocket(path, { method: 'GET', path: '/x' })).rejects.toMatchObject({
      code: 'serial',
    });
  });

  it('takes the place of what a killed process left, and of nothing else', async () => {
    // Closing would remove the file: this is how it looks after kill -9.
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen({ path: `${path}.tmp` }, resolve));
    renameSync(`${path}.tmp`, path);
    await new Promise((resolve) => dead.close(resolve));
    expect(existsSync(path)).toBe(true);
    await listen();
    await expect(listenOnUnixSocket(path, async () => Promise.reject(new Error()))).rejects.toMatchObject({
      code: 'port_in_use',
    });
    expect((await askUnixSocket(path, { method: 'GET', path: '/x' })).status).toBe(200);
    const file = join(folder, 'precious');
    writeFileSync(file, 'kept');
    await expect(listenOnUnixSocket(file, async () => Promise.reject(new Error()))).rejects.toThrow(
      'left unchanged',
    );
    expect(statSync(file).size).toBe(4);
  });

  it('opens on no network path, in no missing folder, and in none where other users may replace it', async () => {
    const never = async () => Promise.reject(new Error('never'));
    for (const place of ['8080', '127.0.0.1:8080', 'agent.sock'])
      await expect(listenOnUnixSocket(place, never)).rejects.toMatchObject({ code: 'config' });
    await expect(listenOnUnixSocket(join(folder, 'none/agent.sock'), never)).rejects.toThrow(
      'does not exist',
    );
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    await expect(listenOnUnixSocket(join(open, 'agent.sock'), never)).rejects.toThrow(
      'All users can replace',
    );
  });

  it('answers no junk, no body that is too long, and goes on', async () => {
    const seen: LocalRequest[] = [];
    await listen(seen);
    expect(await raw('\u0000\u0001\u0002 nonsense\r\n\r\n')).toBe('');
    expect(await raw(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`)).not.toContain('200 OK');
    const long = 'x'.repeat(socketLimits.bodyBytes + 1);
    const answer = await raw(
      `POST /messages HTTP/1.1\r\nhost: x\r\ncontent-length: ${long.length}\r\n\r\n${long}`,
    );
    expect(answer).toContain('413');
    expect(await raw('POST /messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n\xff\xfe')).toContain(
      '413',
    );
    expect(seen).toEqual([]);
    expect((await askUnixSocket(path, { method: 'POST', path: '/messages?x=1', body: '{}' })).status).toBe(
      200,
    );
    expect(seen).toEqual([{ method: 'POST', path: '/messages', body: '{}' }]);
  });

  it('cuts off slow clients, and accepts no more connections than it can serve', async () => {
    await listen();
    const crowd = Array.from({ length: socketLimits.connections + 8 }, () =>
      raw('GET /x HTTP/1.1\r\nhost: '),
    );
    // Those beyond the limit end at once, the others when their time is over; all of them end.
    expect((await Promise.all(crowd)).every((came) => !came.includes('200 OK'))).toBe(true);
    expect((await askUnixSocket(path, { method: 'GET', path: '/x' })).status).toBe(200);
  });
});
