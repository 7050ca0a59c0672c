// The customer's own calls over a fleet with a long history: complete in one answer, in constant memory, in one order while
// events go on coming in, at the pace of the client, and for as long as the client takes something.
import diagnostics from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createHttpServer } from '../../broker/adapters/http/fastify.ts';
import { operations } from '../../broker/operations.ts';
import type { Statement } from '../../src/ports.ts';
import { storeMany } from '../support/database/stored-events.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { hangMs } from '../support/machine/wait-until.ts';

const host = '127.0.0.1';
const recordsOfDevice = 20_000;
const devices = ['truck-1', 'truck-2', 'truck-3', 'truck-4', 'truck-5'];
const count = recordsOfDevice * devices.length;
const beganMs = 1_700_000_000_000;

let folder = '';
let service: Awaited<ReturnType<typeof startHttpService>>;
let port = 0;
let token = '';
/** Statements that gave records to the listings; the service reads for its indexes meanwhile. */
let reads = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleetward-whole-'));
  // Its clients stall for as long as a slow machine needs.
  service = await startHttpService({ databasePath: join(folder, 'broker.db'), stalledMs: 2 * hangMs });
  await service.account('acme');
  for (const device of devices) {
    await service.device('acme', device);
    await storeMany(service.db, {
      device,
      count: recordsOfDevice,
      boot: `b-${device}`,
      of: (i) => ({ timestampMs: beganMs + i * 2000, latitude: 43.6, longitude: -79.3 + i * 0.00001 }),
    });
  }
  const { archive } = service.api;
  const { read } = archive;
  Object.assign(archive, {
    read: (statement: Statement) => {
      if (statement.sql.startsWith('SELECT e.*, d.device_id')) reads += 1;
      return read(statement);
    },
  });
  token = await service.login('acme', 'admin');
  service.pin();
  port = await service.http.listen({ host, port: 0 });
}, 300_000);
afterAll(async () => {
  try {
    await service.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});

function ask(path: string, at = port): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: token };
    const request = get(
      { host, port: at, path: `/api/v1${path}/authorization`, agent: false, headers },
      resolve,
    );
    request.on('error', reject);
    onTestFinished(() => void request.destroy());
  });
}

/** The whole body, and how far the reads of the store were ahead of what had come of it, as a share of the whole. */
async function bodyOf(answer: IncomingMessage): Promise<{ text: string; lead: number; bytes: number }> {
  const parts: Buffer[] = [];
  const marks: { readonly reads: number; readonly bytes: number }[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    parts.push(part);
    bytes += part.length;
    marks.push({ reads, bytes });
  }
  const lead = Math.max(...marks.map((mark) => mark.reads / reads - mark.bytes / bytes));
  return { text: Buffer.concat(parts).toString(), lead, bytes };
}

interface Listed {
  readonly eventdata: {
    readonly devices: readonly { readonly deviceID: string; readonly timestamp: number }[];
  };
}

const whole = ['/eventdata/fleetdata/*/0/0', '/eventdata/fleetmetadata/0/0', '/eventdata/fleetdata/0/0'];

describe('a listing of 100,000 records', () => {
  it.each(whole)(
    '%s is complete, in order and without a record twice',
    { timeout: 300_000 },
    async (path) => {
      reads = 0;
      const answer = await ask(path);
      expect(answer.statusCode).toBe(200);
      const { text, lead, bytes } = await bodyOf(answer);
      expect(bytes).toBeGreaterThan(20_000_000);
      // What was read and has not come lies in memory, or in the buffers of the connection.
      expect(reads).toBe(count / 250);
      expect(lead).toBeLessThan(0.5);
      const { devices: found } = (JSON.parse(text) as Listed).eventdata;
      expect(found).toHaveLength(count);
      expect(new Set(found.map((one) => `${one.deviceID} ${one.timestamp}`)).size).toBe(count);
      expect(found.every((one, at) => at === 0 || one.timestamp >= (found[at - 1]?.timestamp ?? 0))).toBe(
        true,
      );
    },
  );

  it('waits for the client, and what comes in meanwhile neither shows nor moves anything', {
    timeout: 300_000,
  }, async () => {
    reads = 0;
    const sockets: Socket[] = [];
    const started = 'http.server.request.start';
    const note = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
    diagnostics.subscribe(started, note);
    onTestFinished(() => void diagnostics.unsubscribe(started, note));
    const answer = await ask('/eventdata/fleetdata/*/0/0');
    answer.pause();
    let before = -1;
    // Until the buffers on the way are full.
    while (before !== reads) {
      before = reads;
      await pause(200);
    }
    // Buffers of the kernel take as much as it likes; of what they did not take, the service holds little.
    const taken = sockets.reduce((sum, socket) => sum + socket.bytesWritten - socket.writableLength, 0);
    const readThen = reads;
    expect(sockets).toHaveLength(1);
    for (const device of ['truck-1', 'truck-5']) {
      await storeMany(service.db, {
        device,
        count: 500,
        boot: 'late',
        of: (i) => ({ timestampMs: beganMs + i * 79_000 + 1 }),
      });
    }
    const { text } = await bodyOf(answer);
    const { devices: found } = (JSON.parse(text) as Listed).eventdata;
    expect(found).toHaveLength(count);
    expect(new Set(found.map((one) => `${one.deviceID} ${one.timestamp}`)).size).toBe(count);
    await service.sql("DELETE FROM events WHERE boot = 'late'");
    expect(reads).toBe(count / 250);
    expect(readThen / reads - taken / text.length).toBeLessThan(0.1);
  });

  it('disconnects a client that stalls, and frees its slot', async () => {
    const impatient = await createHttpServer({
      services: service.api,
      operations,
      version: '0.0.0',
      readiness: async () => [],
      stalledMs: 10_000,
    });
    onTestFinished(() => impatient.close());
    const answer = await ask('/eventdata/fleetmetadata/0/0', await impatient.listen({ host, port: 0 }));
    answer.on('error', () => undefined).pause();
    const ended = new Promise((resolve) => answer.once('close', resolve));
    expect(service.api.pageLimit.count()).toBe(1);
    await expect.poll(() => service.api.pageLimit.count()).toBe(0);
    answer.resume();
    await ended;
    expect(answer.complete).toBe(false);
  });
});

describe('a list with an ETag', () => {
  it('that is too long to be held is complete all the same, without one', async () => {
    const own = await startHttpService({ heldBytes: 2000, fleetBytes: 0 });
    onTestFinished(() => own.close());
    await own.account('acme');
    const rows = Array.from({ length: 1500 }, (_unused, at) => `(1, 'acme', 'truck-${at}', 1)`);
    await own.sql(`INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES ${rows.join()}`);
    const ownToken = await own.login('acme', 'admin');
    const at = await own.http.listen({ host, port: 0 });
    const path = '/api/v1/device/getalldevices/authorization';
    for (const coding of ['identity', 'gzip']) {
      const headers = { authorization: ownToken, 'accept-encoding': coding };
      const answer = await fetch(`http://${host}:${at}${path}`, { headers });
      expect([answer.status, answer.headers.get('etag')]).toEqual([200, null]);
      expect(((await answer.json()) as { devices: unknown[] }).devices).toHaveLength(1500);
    }
    expect(own.api.pageLimit.count()).toBe(0);
  });
});
