// An outbox that the first format's code left behind (test/data/outbox-first-format.sql), taken up by today's: everything
// that nobody acknowledged is delivered, drops are told, the state holds, and what was not told of a salvage is done again.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Outbox } from '../../agent/outbox.ts';
import { connectSqlite, openSqlite } from '../../src/adapters/sqlite.ts';
import { AppError } from '../../src/core/errors.ts';
import type { FleetEvent } from '../../src/core/event.ts';
import { statusCodes } from '../../src/core/status-codes.ts';
import type { Database, Log } from '../../src/ports.ts';
import { drain, impatientClock, open, record, settle, silentLog } from '../support/outbox-bench.ts';
import { useOutboxPlace } from '../support/outbox-place.ts';

const fixture = readFileSync(new URL('../data/outbox-first-format.sql', import.meta.url), 'utf8');

const place = useOutboxPlace();
let told: [message: string, facts: object | undefined][] = [];
const log: Log = {
  ...silentLog,
  info: (message, facts) => void told.push([message, facts]),
  error: (message, facts) => void told.push([message, facts]),
};

beforeEach(() => {
  told = [];
});

/** The statements on a database, in one connection that ends. */
function onFile<T>(path: string, work: (connection: ReturnType<typeof connectSqlite>) => T): T {
  const connection = connectSqlite({ path, pageSize: 1024 });
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}

/** The fixture as a file; `more` are statements of the first format. With its log beside it, as after a kill. */
function putFixture({ more = [], hasLog = true }: { more?: readonly string[]; hasLog?: boolean } = {}): void {
  const text = fixture.replaceAll(/^(--|PRAGMA|BEGIN|COMMIT).*$/gm, '');
  const statements = text.split(/;\n/).filter((statement) => statement.trim() !== '');
  onFile(place.path, ({ write }) =>
    write([...statements, ...more].map((statement) => ({ sql: statement, params: [] }))),
  );
  // SQLite took its log into the file as it closed; one without frames is what a kill right after that leaves.
  if (hasLog) writeFileSync(`${place.path}-wal`, '');
}

const opened = (): Promise<Outbox> => place.opened({ log, clock: impatientClock });

async function eventsOf(outbox: Outbox): Promise<readonly (FleetEvent & { readonly boot: string })[]> {
  const batches = await drain(outbox);
  return batches.flatMap(({ boot, events }) => events.map((event) => ({ ...event, boot })));
}

const oldBoots = ['boot-untimed', 'boot-full', 'boot-lost'];
const dropCode = statusCodes.EVENTS_DROPPED.code;

/** What the fixture holds, in the order of its numbers. */
const oldEvents = [
  ...[6448, 6449, 6450, 6451, 6452, 6453].map((seq) => `boot-full ${seq}`),
  ...[1, 3, 5, 6].map((seq) => `boot-untimed ${seq}`),
];
const namesOf = (events: Awaited<ReturnType<typeof eventsOf>>): readonly string[] =>
  events
    .filter(({ boot }) => oldBoots.includes(boot))
    .map(({ boot, seq }) => `${boot} ${seq}`)
    .sort();
const evidence = (): readonly string[] =>
  readdirSync(place.folder).filter((name) => name.includes('damaged'));

describe('an outbox of the first format', () => {
  it('is taken up with every event, the state and the time that a boot learned, and nothing is set aside', async () => {
    putFixture();
    const outbox = await opened();
    await settle(outbox);
    const events = await eventsOf(outbox);
    expect(namesOf(events)).toEqual(oldEvents);
    expect(events.find(({ boot, seq }) => boot === 'boot-untimed' && seq === 1)).toMatchObject({
      timestamp: 1_763_690_000_011,
      timeQuality: 'gnss',
    });
    const { values, isIntact } = await outbox.readState();
    expect([Object.fromEntries(values), isIntact]).toEqual([
      { commands: '{"counter":7}', memory: '{"odometerM":1067}', zones: '{"inside":["depot"]}' },
      true,
    ]);
    expect([told.map(([message]) => message), evidence()]).toEqual([['outbox_upgraded'], []]);
  });

  it('tells the drops that were not told yet, once, and what was lost for ever', async () => {
    putFixture();
    const outbox = await opened();
    expect((await outbox.stats()).dropped).toEqual([0, 0, 0, 48]);
    const drops = (await eventsOf(outbox)).filter(({ statusCode }) => statusCode === dropCode);
    expect(drops.map(({ attributes }) => [attributes?.['from'], attributes?.['count']])).toEqual([
      [2, 1],
      [1, 47],
    ]);
  });

  it('has the tables of a new one, and is one from then on', async () => {
    putFixture();
    await (await opened()).close();
    const fresh = join(place.folder, 'fresh.db');
    await (await open(fresh)).close();
    const tables = (path: string) =>
      onFile(path, ({ read }) =>
        read({ sql: 'SELECT name, sql FROM sqlite_master ORDER BY name', params: [] }),
      );
    expect(tables(place.path)).toEqual(tables(fresh));
    const again = await opened();
    await settle(again);
    expect(namesOf(await eventsOf(again))).toEqual(oldEvents);
    expect(told.map(([message]) => message)).toEqual(['outbox_upgraded']);
  });

  it('is empty once all of it is acknowledged, and by then misses nothing', async () => {
    putFixture();
    const outbox = await opened();
    for (let batches = await drain(outbox); batches.length > 0; batches = await drain(outbox)) {
      for (const { boot, events } of batches) {
        await outbox.acknowledge(
          boot,
          events.map(({ seq }) => [seq, seq]),
        );
      }
    }
    await outbox.close();
    const again = await opened();
    await settle(again);
    expect(await drain(again)).toEqual([]);
    expect(told.map(([message]) => message)).toEqual(['outbox_upgraded']);
  });

  it('has accounts from then on, by which an event that vanishes is missed', async () => {
    putFixture();
    await (await opened()).close();
    onFile(place.path, ({ write }) =>
      write([{ sql: 'DELETE FROM p3 WHERE id = $1', params: [6_442_457_393] }]),
    );
    const outbox = await opened();
    await settle(outbox);
    expect(told).toContainEqual(['outbox_damaged', { reason: '1 events are missing' }]);
    expect(namesOf(await eventsOf(outbox))).toEqual(oldEvents.filter((name) => name !== 'boot-full 6449'));
  });

  it('goes on with a salvage that its code had begun', async () => {
    const lost = join(place.folder, 'lost.db');
    const earlier = await open(lost, { boot: 'boot-lost' });
    await earlier.append([record(0, 1), record(3, 2)]);
    await earlier.close();
    const aside = 'outbox.db.damaged-20261101T000000Z-0a0b0c0d';
    renameSync(lost, join(place.folder, aside));
    const note = JSON.stringify([{ evidence: aside, floors: [0, 0, 0, 0] }]);
    putFixture({ more: [`INSERT INTO notes (key, value) VALUES ('rescue', '${note}')`] });
    const outbox = await opened();
    await settle(outbox);
    const events = await eventsOf(outbox);
    expect(namesOf(events)).toEqual([...oldEvents, 'boot-lost 1', 'boot-lost 2'].sort());
  });

  it('is left as it is when the disk is full, and taken up when there is room', async () => {
    putFixture();
    const full: typeof openSqlite = (file) => {
      const database = openSqlite(file);
      const write: Database['write'] = async (batch) => {
        if (!batch.some(({ sql }) => sql.startsWith('DROP'))) return database.write(batch);
        const cause = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
        throw new AppError('storage', 'SQLITE_FULL', { cause });
      };
      return { ...database, write };
    };
    const openDatabase = (file: { path: string; maxBytes: number }) => full({ ...file, pageSize: 1024 });
    await expect(open(place.path, { log, openDatabase })).rejects.toThrow(/SQLITE_FULL/);
    const outbox = await opened();
    await settle(outbox);
    expect([namesOf(await eventsOf(outbox)), evidence()]).toEqual([oldEvents, []]);
  });

  it('is set aside and salvaged when its log is gone, like any other', async () => {
    putFixture({ hasLog: false });
    const outbox = await opened();
    await settle(outbox);
    expect(namesOf(await eventsOf(outbox))).toEqual(oldEvents);
    expect([(await outbox.readState()).isIntact, evidence().length]).toEqual([false, 1]);
    expect(told).toContainEqual([
      'outbox_replaced',
      expect.objectContaining({ reason: 'the write-ahead log is missing' }),
    ]);
  });

  it('needs no log when it was closed in good order', async () => {
    putFixture({ more: ["DELETE FROM notes WHERE key = 'open'"], hasLog: false });
    const outbox = await opened();
    await settle(outbox);
    expect([namesOf(await eventsOf(outbox)), evidence()]).toEqual([oldEvents, []]);
  });
});
