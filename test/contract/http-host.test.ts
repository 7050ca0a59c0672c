// The HTTP host on a real socket of this machine: ports, broken requests, and an orderly end.
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
let port = 0;
const host = '127.0.0.1';

beforeEach(async () => {
  service = await startHttpService();
  port = await service.http.listen({ host, port: 0 });
});
afterEach(() => service.close());

/** Sends bytes as they are and gives everything that comes back. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({ host, port }, () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (part: string) => {
      answer += part;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('the HTTP host', () => {
  it('names port and flag when the port is taken', async () => {
    const other = await startHttpService();
    onTestFinished(() => other.close());
    const taken = expect.objectContaining({
      code: 'port_in_use',
      hint: expect.stringContaining('--http-port'),
    });
    await expect(other.http.listen({ host, port })).rejects.toEqual(taken);
    await expect(other.http.listen({ host, port })).rejects.toThrow(String(port));
  });

  it('names the flag when the address is not of this machine', async () => {
    const other = await startHttpService();
    onTestFinished(() => other.close());
    const foreign = expect.objectContaining({ code: 'config', hint: expect.stringContaining('--http-host') });
    await expect(other.http.listen({ host: '192.0.2.1', port: 0 })).rejects.toEqual(foreign);
  });

  it.each([
    ['is no HTTP', 'hello\r\n\r\n'],
    ['has an unknown verb', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['has no Host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['has headers beyond the limit', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])('answers 400 with an error object when a request %s', async (_name, text) => {
    const answer = await exchange(text);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    const body: unknown = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect(body).toMatchObject({ error: { status: 400, code: 'malformed_request' } });
  });

  it('ignores an unknown expectation: 417 is no code of the interface', async () => {
    const answer = await exchange(
      'GET /livez HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('ends with idle connections open', async () => {
    const answer = await fetch(`http://${host}:${port}/livez`);
    expect(await answer.json()).toEqual({ status: 'ok' });
    await service.http.close();
    await expect(fetch(`http://${host}:${port}/livez`)).rejects.toThrow();
  });
});
