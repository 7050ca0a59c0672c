// The doctor's look at the way to a broker, against real servers on loopback with certificates of a real authority: what it says
// of a good one, and of each of the faults that people meet.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { createNetworkProbe } from '../../agent/adapters/network-probe.ts';
import { createAuthority } from '../support/broker/certificates.ts';
import { requires } from '../support/machine/requires.ts';

const { missing } = requires({ commands: ['openssl'], debian: ['openssl'] });
const probe = createNetworkProbe();
const servers: Server[] = [];
const sockets = new Set<Socket>();

async function listen(server: Server): Promise<number> {
  servers.push(server);
  // The probe ends connections as it likes.
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

describe.skipIf(missing !== null)(missing === null ? 'the probe' : `the probe [${missing}]`, () => {
  it('shows the chain of a server, and by its code why it is not trusted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-probe-'));
    try {
      const authority = createAuthority(folder);
      const ca = readFileSync(authority.caFile, 'utf8');
      const look = async (name: string, days: number, trust: { ca?: string }) => {
        const { cert, key } = authority.issue(name, days);
        const port = await listen(createServer({ cert, key }));
        return probe.tls({ host: 'localhost', port }, trust);
      };
      const good = await look('localhost', 2, { ca });
      expect(good).toMatchObject({
        fault: null,
        chain: [{ subject: 'localhost', issuer: 'test', names: 'DNS:localhost' }, { subject: 'test' }],
      });
      expect(good.chain[0]?.toMs).toBeGreaterThan(Date.now());
      expect((await look('localhost', -1, { ca })).fault).toBe('CERT_HAS_EXPIRED');
      expect((await look('elsewhere', 2, { ca })).fault).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
      const unknown = (await look('localhost', 2, {})).fault;
      expect(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY']).toContain(unknown);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('reports a closed port, and a listener without TLS', async () => {
    const port = await listen(createTcpServer((socket) => socket.end('220 hello\r\n')));
    expect(await probe.connect('127.0.0.1', port)).toBeGreaterThanOrEqual(0);
    await expect(probe.tls({ host: '127.0.0.1', port }, {})).rejects.toMatchObject({ code: 'unavailable' });
    await expect(probe.connect('127.0.0.1', 1)).rejects.toThrow('ECONNREFUSED');
    expect(await probe.resolve('localhost')).toContain('127.0.0.1');
    await expect(probe.resolve('no-such-name.invalid')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
