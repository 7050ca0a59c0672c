// Clients that leave: at any byte of the request and of the answer, while the service works, behind another request on their
// connection, and without ever reading. Every operation whose answer comes in pages or flows is tried, from the list of
// operations, over real sockets; afterwards every place is free by the limiters' own counts, and the account reads as before.
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, servedPaths } from '../../broker/api/base/operation.ts';
import { operations } from '../../broker/operations.ts';
import { pageLimits } from '../../broker/scheduling/per-account-limits.ts';
import { type HttpService, prepareCall, seedFleet } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { fill } from '../support/http/operation-calls.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const host = '127.0.0.1';
const folder = temporaryFolder('leaving');
let service: HttpService;
let port = 0;
let tokens: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  // A file: its reads are truly awaited. From the first byte on an answer in pages is a long one.
  service = await startHttpService({ databasePath: join(folder, 'broker.db'), gatherBytes: 1 });
  await seedFleet(service);
  port = await service.http.listen({ host, port: 0 });
  service.pin();
  tokens = {
    viewer: await service.login('acme', 'guest'),
    operator: await service.login('acme', 'dispatch'),
    admin: await service.login('acme', 'admin'),
  };
});
afterAll(() => service.close());

/** Reads, and whatever else holds something while it is answered: effects answer with one object, but for live streams. */
const reads = operations.filter(
  ({ method, access, effects, produces }) =>
    method === 'GET' && access !== 'public' && (!effects || produces !== undefined),
);
/** An answer in pages to a POST. */
const imports = operations.filter(({ id }) => id === 'importDevices');

const places = () => ({
  longAnswers: service.api.pageLimit.count(),
  longReads: service.api.exportLimit.count(),
  streams: service.streamCount(),
});
const allFree = { longAnswers: 0, longReads: 0, streams: 0 };

interface Leaving {
  /** Bytes of the request that are sent; all unless given. */
  readonly sent?: number;
  /** The client leaves when so many bytes of the answer have come. */
  readonly afterBytes?: number;
  /** It leaves after so many ms, whatever came. */
  readonly afterMs: number;
  readonly isReading?: boolean;
  /** It ends its own side first. */
  readonly isHalfClosed?: boolean;
  /** Of another service than that of all tests. */
  readonly port?: number;
}

/**
 * Sends a request and leaves; resolves when the connection is gone. Not by `fetch`, whose body may never settle when it is aborted as the
 * last of it comes in (undici 6 of Node 20 and 22, nodejs/undici#4089).
 */
function leave(text: string, leaving: Leaving): Promise<void> {
  const { sent = text.length, afterBytes = Number.POSITIVE_INFINITY, afterMs, isReading = true } = leaving;
  return new Promise((resolve) => {
    let got = 0;
    const socket = connect({ host, port: leaving.port ?? port }, () => {
      socket.write(text.slice(0, sent));
      if (leaving.isHalfClosed === true) socket.end();
      setTimeout(() => socket.destroy(), afterMs);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    if (!isReading) return;
    socket.on('data', (part) => {
      got += part.length;
      if (got >= afterBytes) socket.destroy();
    });
  });
}

async function requestOf(operation: Operation, method = 'GET'): Promise<string> {
  const prepared = await prepareCall(service, operation);
  const token = prepared.token ?? tokens[operation.access] ?? '';
  const path = fill(operation, servedPaths(operation)[0] ?? '', prepared.params);
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\n\r\n`;
}

const allOf = (text: string, ways: readonly Leaving[]) => Promise.all(ways.map((way) => leave(text, way)));
const times = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_unused, at) => make(at));

describe('a viewer of 2,000 devices', () => {
  it('that aborts the list sixty times can still read it', async () => {
    const own = await startHttpService({ databasePath: join(folder, 'fleet.db') });
    try {
      await own.account('acme');
      const rows = times(2000, (at) => `(1, 'acme', 'truck-${at}', 1)`);
      await own.sql(
        `INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES ${rows.join()}`,
      );
      await own.user('acme', 'guest', 'viewer');
      const token = await own.login('acme', 'guest');
      own.pin();
      const at = await own.http.listen({ host, port: 0 });
      const path = '/api/v1/device/getalldevices/authorization';
      const text = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\nAccept-Encoding: gzip\r\n\r\n`;
      for (const wave of times(6, (number) => number)) {
        await allOf(
          text,
          times(10, (number) => ({ afterMs: 1 + wave * 10 + number, port: at })),
        );
      }
      await expect.poll(() => own.api.pageLimit.count()).toBe(0);
      const answer = await fetch(`http://${host}:${at}${path}`, { headers: { authorization: token } });
      expect(answer.status).toBe(200);
      expect(((await answer.json()) as { devices: unknown[] }).devices).toHaveLength(2000);
    } finally {
      await own.close();
    }
  });
});

describe('a client that leaves', () => {
  it.each(reads.map((operation) => [operation.id, operation] as const))(
    '%s frees every slot',
    async (_id, operation) => {
      const text = await requestOf(operation);
      await allOf(
        text,
        times(12, (at) => ({ afterMs: at })),
      );
      await allOf(
        text,
        times(6, (at) => ({ afterBytes: 1 + at * 150, afterMs: 300 })),
      );
      await allOf(
        text,
        times(4, (at) => ({ sent: Math.floor((text.length * at) / 4), afterMs: 5 })),
      );
      await allOf(
        text,
        times(4, (at) => ({ afterMs: 10 * at, isReading: false })),
      );
      await allOf(
        text,
        times(4, (at) => ({ afterMs: 5 + at, isHalfClosed: true })),
      );
      await expect.poll(places, { interval: 5 }).toEqual(allFree);
    },
  );

  it.each(reads.map((operation) => [operation.id, operation] as const))(
    '%s behind another request on its connection frees every slot',
    async (_id, operation) => {
      const text = (await requestOf(operation)).repeat(4);
      await allOf(
        text,
        times(8, (at) => ({ afterMs: at * 2, isReading: false })),
      );
      await expect.poll(places, { interval: 5 }).toEqual(allFree);
    },
  );

  it.each(imports.map((operation) => [operation.id, operation] as const))(
    '%s, whose answer comes in pages too, frees every slot',
    async (_id, operation) => {
      const path = (servedPaths(operation)[0] ?? '') + '?dryRun=true';
      const csv = ['deviceID', ...times(500, (at) => `new-${at}`)].join('\n');
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${tokens[operation.access] ?? ''}\r\n`;
      const text = `${head}Content-Type: text/csv\r\nContent-Length: ${csv.length}\r\n\r\n${csv}`;
      await allOf(
        text,
        times(8, (at) => ({ afterMs: at * 2 })),
      );
      await allOf(
        text,
        times(6, (at) => ({ afterBytes: 1 + at * 150, afterMs: 300 })),
      );
      await allOf(
        text.repeat(2),
        times(6, (at) => ({ afterMs: at * 3, isReading: false })),
      );
      await expect.poll(places, { interval: 5 }).toEqual(allFree);
    },
  );

  it('after a HEAD, without waiting for it, frees every slot', async () => {
    for (const operation of reads.filter(({ effects }) => !effects)) {
      const text = await requestOf(operation, 'HEAD');
      await allOf(
        text,
        times(3, (at) => ({ afterMs: at })),
      );
    }
    await expect.poll(places, { interval: 5 }).toEqual(allFree);
  });

  it('is no error: the log records that it left, without a stack', async () => {
    const before = service.logLines.length;
    const operation = reads.find(({ id }) => id === 'getAllDevices');
    if (operation === undefined) throw new Error('there is no list of devices');
    const text = await requestOf(operation);
    const lines = () => service.logLines.slice(before).join('\n');
    // Whether a client leaves before its answer is whole depends on the machine.
    await waitUntil('a client that left early', async () => {
      await allOf(
        text,
        times(30, (at) => ({ afterMs: at / 3 })),
      );
      return lines().includes('"event":"http_client_closed"');
    });
    await expect.poll(places, { interval: 5 }).toEqual(allFree);
    const answer = await fetch(`http://${host}:${port}/livez`);
    expect(answer.status).toBe(200);
    expect(lines()).not.toContain('http_failure');
  });

  it('leaves the user able to read, by as many long answers at once as before', async () => {
    const path = '/api/v1/device/getalldevices/authorization';
    const answers = await Promise.all(
      times(pageLimits.answers.token, () =>
        fetch(`http://${host}:${port}${path}`, { headers: { authorization: tokens['viewer'] ?? '' } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(times(pageLimits.answers.token, () => 200));
    await Promise.all(answers.map((answer) => answer.text()));
  });
});
