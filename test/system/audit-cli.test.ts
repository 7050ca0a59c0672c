// The audit log at the command line, as an operator checks it: real processes on a database file.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createAuditSealer } from '../../broker/audit/sealer.ts';
import { insertAudit } from '../../broker/store/accounts/audit.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { createSigner, createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import type { Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { createBenchLog } from '../support/broker/broker-bench.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const program = fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url));
const folder = temporaryFolder('audit');
const database = join(folder, 'fleet.db');
const signingKey = generateSigningKey();
const headsFile = join(folder, 'heads.json');

function run(args: readonly string[], input = '') {
  const options = { cwd: folder, env: { PATH: process.env['PATH'] }, encoding: 'utf8', input } as const;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [program, ...args, '--database', database],
    options,
  );
  return { code: status, out: stdout, err: stderr };
}

async function write(batch: readonly Statement[]): Promise<void> {
  const db = openSqlite({ path: database, pageSize: 4096 });
  const { privatePem, publicKey } = signingKey;
  const sealer = createAuditSealer({
    db,
    clock: createSystemClock(),
    log: createBenchLog(),
    signer: createSigner(privatePem),
    verifier: createVerifier(publicKey),
  });
  await db.write(batch);
  await sealer.close();
  await db.close();
}

describe.skipIf(!existsSync(program))(
  `the audit log at the command line${existsSync(program) ? '' : ' [skipped: not built]'}`,
  () => {
    beforeAll(async () => {
      const made = run(
        ['account', 'create', 'acme', '--admin', 'ann', '--password-file', '-'],
        'correct horse battery\n',
      );
      expect(made).toMatchObject({ code: 0 });
      const entry = {
        accountID: 'acme',
        atMs: 1,
        actor: 'ann',
        source: '',
        action: 'user.create',
        detail: {},
      };
      await write(
        Array.from({ length: 10 }, (_, index) => insertAudit({ ...entry, object: `user-${index}` })),
      );
    });

    it('verifies, and its heads are kept', () => {
      const good = run(['audit', 'verify', '--account', 'acme']);
      expect(good).toMatchObject({ code: 0, err: '' });
      expect(good.out).toMatch(/^1 chains, \d+ entries: all hold\n$/);
      const heads = run(['audit', 'heads', '--json']);
      expect(heads.code).toBe(0);
      writeFileSync(headsFile, heads.out);
      const shown = JSON.parse(heads.out) as { heads: { accountID: string; chainNo: number }[] };
      expect(shown.heads.find(({ accountID }) => accountID === 'acme')?.chainNo).toBeGreaterThanOrEqual(10);
      expect(run(['audit', 'verify', '--head', headsFile])).toMatchObject({ code: 0 });
    });

    it('without its newest entry fails, also against the kept heads: exit code 1', async () => {
      await write([
        sql`DELETE FROM audit WHERE account_id = 'acme'
          AND chain_no = (SELECT MAX(chain_no) FROM audit WHERE account_id = 'acme')`,
      ]);
      const alone = run(['audit', 'verify']);
      expect(alone.code).toBe(1);
      expect(alone.out).toMatch(/^BROKEN acme, entry \d+: rows up to the saved head are missing\n/);
      const found = run(['audit', 'verify', '--head', headsFile]);
      expect(found.code).toBe(1);
      expect(found.out).toContain('BROKEN acme, entry');
    });

    it('with a changed entry fails and names the entry: exit code 1, also for programs', async () => {
      await write([sql`UPDATE audit SET actor = 'bob' WHERE account_id = 'acme' AND chain_no = 4`]);
      const found = run(['audit', 'verify']);
      expect(found.code).toBe(1);
      expect(found.out).toMatch(/^BROKEN acme, entry 4 \(row \d+\): it was changed\n/);
      const json = JSON.parse(run(['audit', 'verify', '--json']).out) as object;
      expect(json).toMatchObject({
        ok: false,
        faults: [{ accountID: 'acme', chainNo: 4, reason: 'changed' }],
      });
    });

    it('refuses heads that are none, and a database that is not there', () => {
      expect(run(['audit', 'verify', '--head', '-'], 'nothing')).toMatchObject({ code: 65 });
      expect(run(['audit', 'verify', '--head', join(folder, 'absent')])).toMatchObject({ code: 64 });
      const absent = spawnSync(process.execPath, [
        program,
        'audit',
        'heads',
        '--database',
        join(folder, 'no.db'),
      ]);
      expect(absent.status).toBe(66);
      expect(existsSync(join(folder, 'no.db'))).toBe(false);
      expect(run(['audit'])).toMatchObject({ code: 64 });
    });
  },
);
