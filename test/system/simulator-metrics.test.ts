// A run looks at the broker's own figures over HTTP: with the token where one is asked for, and whatever is wrong with what answers, the
// run goes on and says what it did not see.
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSeries } from '../../simulator/core/series/series.ts';
import { columnsOf } from '../../simulator/core/series/series-columns.ts';
import { watchBroker } from '../../simulator/run/measure/broker-watch.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { createOwnAuthority } from '../support/broker/own-authority.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const folder = temporaryFolder('figures');

interface Looked {
  readonly token?: string;
  readonly ca?: string;
  /** Of the server; plain HTTP unless given. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Looks at what answers until `isEnough`. */
async function look(
  answer: RequestListener,
  { token, ca, tls }: Looked,
  isEnough: (sight: { seen: number; missed: number }) => boolean,
) {
  const isTls = tls !== undefined;
  const server = isTls ? createTlsServer(tls, answer) : createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const clock = createSystemClock();
  const book = createSeries();
  const startMs = clock.monoMs();
  const time = { nowMs: () => clock.monoMs() - startMs };
  const watch = watchBroker({
    address: {
      url: `http${isTls ? 's' : ''}://127.0.0.1:${port}/metrics`,
      token: token ?? null,
      ca: ca ?? null,
    },
    clock,
    time,
    book,
  });
  try {
    await waitUntil('the reads', () => isEnough(watch.sight()), {
      seen: () => JSON.stringify(watch.sight()),
    });
  } finally {
    watch.close();
    server.closeAllConnections();
    await new Promise<void>((done) => server.close(() => done()));
  }
  return { sight: watch.sight(), columns: columnsOf(book.data()).columns };
}

describe('the watch of the broker metrics', () => {
  it('sends the token, computes CPU from two answers and counts the errors between them', async () => {
    let cpuS = 0;
    const answer: RequestListener = (request, response) => {
      if (request.headers.authorization !== 'Bearer secret') return void response.writeHead(401).end();
      cpuS += 0.5;
      const refused = `fleetward_mqtt_connections_refused_total{reason="rate"} ${cpuS * 4}`;
      response.end(
        `process_cpu_seconds_total ${cpuS}\nprocess_resident_memory_bytes 104857600\n${refused}\n`,
      );
    };
    const { sight, columns } = await look(answer, { token: 'secret' }, ({ seen }) => seen >= 3);
    expect(sight).toMatchObject({ missed: 0, reason: '' });
    // Two more in each answer; what was there before the first is not of this run.
    expect(sight.errors).toMatchObject({ connectionsRefused: 2 * (sight.seen - 1), requestsFailed: 0 });
    expect(columns.brokerMb).toContain(100);
    // Half a second of CPU for each look, which comes once a second or, on a busy machine, later.
    const used = (columns.brokerCpu ?? []).filter((value) => value !== null);
    expect(used.length).toBeGreaterThan(0);
    for (const value of used) expect(value > 0 && value <= 51).toBe(true);
    expect(columns).not.toHaveProperty('commitSize');
  });

  it.each<readonly [string, RequestListener, string]>([
    ['asks for a token', (_, response) => void response.writeHead(401).end('no'), 'answered 401'],
    ['is another program', (_, response) => void response.end('<html>hello</html>'), 'holds no metrics'],
    [
      'redirects',
      (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      '',
    ],
    ['sends a too long answer', (_, response) => void response.end('x'.repeat(5_000_000)), 'longer than'],
    ['hangs up', (request) => void request.socket.destroy(), ''],
  ])('records no metrics and names the reason when the server %s', async (_, answer, words) => {
    const { sight, columns } = await look(answer, {}, ({ missed }) => missed >= 1);
    expect(sight.seen).toBe(0);
    expect(sight.reason).toContain(words);
    expect(sight.reason).not.toBe('');
    expect(columns).toEqual({});
  });

  it('trusts the given authority over TLS, and no other', async () => {
    const authority = createOwnAuthority(folder);
    const tls = authority.server('127.0.0.1');
    const answer: RequestListener = (_, response) => void response.end('process_cpu_seconds_total 1\n');
    const trusted = await look(answer, { tls, ca: authority.ca }, ({ seen, missed }) => seen + missed >= 1);
    expect(trusted.sight).toMatchObject({ seen: 1, missed: 0, reason: '' });
    const stranger = await look(answer, { tls }, ({ seen, missed }) => seen + missed >= 1);
    expect(stranger.sight).toMatchObject({ seen: 0, reason: expect.stringMatching(/certificate/) });
  });
});
