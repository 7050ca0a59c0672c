// Payloads that could not be read at the command line, and the confirmation of a user there: real processes on a database file.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertQuarantine } from '../../broker/store/events/quarantine.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { sql } from '../../src/sql.ts';

const program = fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fleetward-quarantine-'));
const database = join(folder, 'fleet.db');

afterAll(() => rmSync(folder, { recursive: true }));

function run(args: readonly string[], input = '') {
  const options = { cwd: folder, env: { PATH: process.env['PATH'] }, encoding: 'utf8', input } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...args, '--database', database, '--json'],
    options,
  );
  return { code: status, json: () => JSON.parse(stdout) as Record<string, unknown>, err: stderr };
}

describe.skipIf(!existsSync(program))(
  `the command line${existsSync(program) ? '' : ' [skipped: not built]'}`,
  () => {
    const payload = new Uint8Array([0, 255, 7]);
    beforeAll(async () => {
      run(['account', 'create', 'acme', '--admin', 'ann', '--password-file', '-'], 'correct horse battery\n');
      expect(run(['device', 'create', 'acme', 'truck-1']).code).toBe(0);
      const db = openSqlite({ path: database, pageSize: 4096 });
      const [row] = await db.read(sql`SELECT device_no FROM devices`);
      const entry = { topic: 't', receivedMs: 1_763_683_200_000, reason: 'not JSON', payload };
      await db.write(insertQuarantine(Number(row?.['device_no']), entry));
      await db.write([sql`UPDATE users SET granted_by = 'bob'`]);
      await db.close();
    });

    it('lists, shows and drops what could not be read, and records it', async () => {
      const listed = run(['quarantine', 'list', 'acme', 'truck-1']).json();
      expect(listed['payloads']).toMatchObject([{ reason: 'not JSON', bytes: 3 }]);
      const [entry] = listed['payloads'] as { quarantineNo: number }[];
      const shown = run(['quarantine', 'show', 'acme', 'truck-1', String(entry?.quarantineNo)]).json();
      expect(new Uint8Array(Buffer.from(String(shown['payload']), 'base64'))).toEqual(payload);
      expect(run(['quarantine', 'show', 'acme', 'truck-1', '999']).code).toBe(66);
      expect(run(['quarantine', 'list', 'acme', 'none']).code).toBe(66);
      expect(run(['quarantine', 'drop', 'acme', 'truck-1']).json()).toMatchObject({ dropped: 1 });
      expect(run(['quarantine', 'drop', 'acme', 'truck-1']).json()).toMatchObject({ dropped: 0 });
      const db = openSqlite({ path: database, pageSize: 4096 });
      const audit = sql`SELECT actor, object FROM audit WHERE action = 'quarantine.drop'`;
      expect(await db.read(audit)).toEqual([{ actor: 'operator', object: 'truck-1' }]);
      await db.close();
    });

    it('confirms a user, and reports when there is none', async () => {
      expect(run(['account', 'confirm', 'acme', 'ann']).json()).toMatchObject({ isConfirmed: true });
      expect(run(['account', 'confirm', 'acme', 'nobody']).code).toBe(66);
      const db = openSqlite({ path: database, pageSize: 4096 });
      expect(await db.read(sql`SELECT granted_by FROM users`)).toEqual([{ granted_by: null }]);
      await db.close();
    });
  },
);
