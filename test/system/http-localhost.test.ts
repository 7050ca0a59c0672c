// HTTPS on the name `localhost`: both of its addresses are one server, with one certificate, also after a reload.
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../broker/adapters/http/fastify.ts';
import { readTlsFiles } from '../../broker/adapters/keys/tls-files.ts';
import { createOwnAuthority } from '../support/broker/own-authority.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const folder = temporaryFolder('localhost');
const authority = createOwnAuthority(folder);
const materialOf = (names: string) =>
  readTlsFiles({ setting: 'http.tls', ...authority.server(names) }).material;
const first = materialOf('localhost');
const second = materialOf('fleet.example.com');

/** The names in the certificate that is shown there. */
const shownAt = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    const to = { host, port, ca: authority.ca, checkServerIdentity: () => undefined };
    const socket = connect(to, () => {
      resolve(socket.getPeerCertificate().subjectaltname);
      socket.destroy();
    });
    socket.once('error', reject);
  });

/** The status of `/livez` there. */
const statusAt = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const to = { host, port, ca: authority.ca, checkServerIdentity: () => undefined };
    const socket = connect(to, () => socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    socket.once('data', (bytes) => {
      resolve(bytes.toString('latin1').split('\r\n', 1)[0] ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });

describe('HTTPS on localhost', () => {
  let service: Awaited<ReturnType<typeof startHttpService>>;
  beforeAll(async () => {
    service = await startHttpService();
  });
  afterAll(async () => {
    await service?.close();
    rmSync(folder, { recursive: true });
  });
  let http: Awaited<ReturnType<typeof createHttpServer>> | null = null;
  afterEach(async () => {
    await http?.close();
    http = null;
  });

  const open = async () => {
    http = await createHttpServer({
      services: service.api,
      operations: [],
      version: '0.0.0',
      readiness: async () => [],
      tls: first,
    });
    return http;
  };

  it('shows the new certificate on both addresses after a reload, and answers on both', async () => {
    const opened = await open();
    const port = await opened.listen({ host: 'localhost', port: 0 });
    expect([await shownAt('127.0.0.1', port), await shownAt('::1', port)]).toEqual([
      'DNS:localhost',
      'DNS:localhost',
    ]);
    opened.renewTls(second);
    expect([await shownAt('127.0.0.1', port), await shownAt('::1', port)]).toEqual([
      'DNS:fleet.example.com',
      'DNS:fleet.example.com',
    ]);
    expect([await statusAt('127.0.0.1', port), await statusAt('::1', port)]).toEqual([
      'HTTP/1.1 200 OK',
      'HTTP/1.1 200 OK',
    ]);
    await opened.close();
    http = null;
    await expect(shownAt('127.0.0.1', port)).rejects.toThrow('ECONNREFUSED');
    await expect(shownAt('::1', port)).rejects.toThrow('ECONNREFUSED');
  });

  it('does not start where another program has the second address', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen({ host: '::1', port: 0 }, resolve));
    const bound = other.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    const opened = await open();
    try {
      await expect(opened.listen({ host: 'localhost', port })).rejects.toMatchObject({ code: 'port_in_use' });
    } finally {
      other.close();
    }
  });
});
