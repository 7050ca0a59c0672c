// The disk of a simulated vehicle: what was written is there after its process was killed, nothing of a killed process is written or
// answered any more, and a full disk takes nothing and loses nothing.
import { readdirSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createVehicleDisk } from '../../simulator/run/fleet/vehicle-disk.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import type { Database } from '../../src/ports.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const folder = temporaryFolder('disk');

const diskOf = (deviceID: string, home: string | null = folder) =>
  createVehicleDisk({
    folder: home,
    deviceID,
    openDatabase: openSqlite,
  });

const maxBytes = 16 * 1024 * 1024;
const put = (value: number) => ({ sql: 'INSERT INTO notes (value) VALUES ($1)', params: [value] });
const valuesIn = async (database: Database): Promise<readonly unknown[]> =>
  (await database.read({ sql: 'SELECT value FROM notes ORDER BY value', params: [] })).map(
    (row) => row['value'],
  );

async function open(disk: ReturnType<typeof diskOf>): Promise<Database> {
  const database = await disk.openDatabase({ path: disk.path(), pageSize: 512, maxBytes });
  await database.write([{ sql: 'CREATE TABLE IF NOT EXISTS notes (value INTEGER)', params: [] }]);
  return database;
}

/** SQLite answers in this process, so what settles at all has settled a few turns of the loop later. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let hasSettled = false;
  const settle = (): void => {
    hasSettled = true;
  };
  work.then(settle, settle);
  for (let turns = 0; turns < 50; turns += 1) await turn();
  return hasSettled;
}

describe('the disk of a vehicle', () => {
  it('keeps what was reported durable over a kill, and nothing that came after', async () => {
    const disk = diskOf('killed');
    const before = await open(disk);
    for (let value = 0; value < 200; value += 1) await before.write([put(value)]);
    disk.kill();
    expect(await isSettled(before.write([put(1000)]))).toBe(false);
    expect(await isSettled(valuesIn(before))).toBe(false);
    expect(await isSettled(before.close())).toBe(false);
    const after = await open(disk);
    expect(await valuesIn(after)).toEqual(Array.from({ length: 200 }, (_, value) => value));
    disk.kill();
    expect(await valuesIn(await open(disk))).toHaveLength(200);
    disk.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes nothing while it is full, as SQLite says it, and everything afterwards', async () => {
    const disk = diskOf('full');
    const database = await open(disk);
    await database.write([put(1)]);
    disk.setFull(true);
    await expect(database.write([put(2)])).rejects.toMatchObject({
      code: 'storage',
      cause: { code: 'SQLITE_FULL' },
    });
    expect(await valuesIn(database)).toEqual([1]);
    disk.setFull(false);
    await database.write([put(3)]);
    expect(await valuesIn(database)).toEqual([1, 3]);
    await database.close();
    disk.close();
  });

  it('in memory is never killed: it would be lost', () => {
    expect(() => diskOf('memory', null).kill()).toThrow('cannot be killed');
  });
});
