// The disk of a simulated vehicle that forgets what it told durable: seeded behind the back of the agent, between its kill and its
// next start, so that nothing but the truth check can tell. What was forgotten is kept in `done`.
import { existsSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { OutboxOptions } from '../../../agent/outbox.ts';
import { openSqlite } from '../../../src/adapters/database/sqlite.ts';
import type { Database } from '../../../src/ports.ts';

type OpenDatabase = OutboxOptions['openDatabase'];

export interface ForgetfulDisk {
  /** `<deviceID> <boot>:<seq>`, in order. */
  readonly done: () => readonly string[];
  readonly openDatabase: OpenDatabase;
}

const openFile: OpenDatabase = (file) => openSqlite(file);

/** The number of an event within its boot; above it stands the number of the boot. */
const seqBits = 31;
const tables = ['p0', 'p1', 'p2', 'p3'] as const;

interface Row {
  readonly table: string;
  readonly id: number;
  readonly name: string;
}

/** All rows of the queue, the oldest first. */
async function rowsOf(database: Database, deviceID: string): Promise<readonly Row[]> {
  const boots = await database.read({ sql: 'SELECT number, boot FROM boots', params: [] });
  const bootOf = new Map(boots.map((row) => [Number(row['number']), String(row['boot'])]));
  const lists = await Promise.all(
    tables.map(async (table) => {
      const rows = await database.read({ sql: `SELECT id FROM ${table}`, params: [] });
      return rows.map((row) => {
        const id = Number(row['id']);
        const [boot, seq] = [Math.floor(id / 2 ** seqBits), id % 2 ** seqBits];
        return { table, id, name: `${deviceID} ${bootOf.get(boot)}:${seq}` };
      });
    }),
  );
  return lists.flat().sort((a, b) => a.id - b.id);
}

/** @param what the newest row of the queue, or the whole file; once for each vehicle, after its first kill. */
export function createForgetfulDisk(what: 'newest row' | 'file'): ForgetfulDisk {
  const done: string[] = [];
  return {
    done: () => [...done].sort(),
    async openDatabase(file) {
      const { path } = file;
      const isSecondLife = basename(dirname(path)) === '2' && existsSync(path);
      const deviceID = basename(dirname(dirname(path)));
      if (!isSecondLife || done.some((name) => name.startsWith(`${deviceID} `))) return openFile(file);
      const database = await openFile(file);
      const rows = await rowsOf(database, deviceID);
      const gone = what === 'file' ? rows : rows.slice(-1);
      done.push(...gone.map(({ name }) => name));
      if (what === 'newest row')
        await database.write(
          gone.map(({ table, id }) => ({ sql: `DELETE FROM ${table} WHERE id = $1`, params: [id] })),
        );
      await database.close();
      if (what === 'file') for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
      return openFile(file);
    },
  };
}
