// The audit log over HTTP: its filters, and the check of its chain against everything that another program can do to the rows. Each
// attack is one on the database itself, past the service.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertAudit } from '../../broker/store/accounts/audit.ts';
import { auditScanned } from '../../broker/store/accounts/audit-log.ts';
import { createSigner, generateSigningKey } from '../../src/adapters/signing.ts';
import { isOnPostgres } from '../support/database/test-database.ts';
import { bridgesOfTest, startHttpService } from '../support/http/http-service.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

interface Check {
  readonly entries: number;
  readonly length: number;
  readonly unsealed: number;
  readonly proven: boolean;
  readonly from: { readonly chainNumber: number; readonly timestamp: number } | null;
  readonly until: { readonly chainNumber: number } | null;
  readonly fault: {
    readonly chainNumber: number;
    readonly entryID: string | null;
    readonly reason: string;
  } | null;
  readonly head: { readonly chainNumber: number; readonly hash: string; readonly signed: string } | null;
  readonly more: boolean;
  readonly next: string | null;
}

const entry = (accountID: string, index: number, changed: object = {}) =>
  insertAudit({
    accountID,
    atMs: 1_700_000_000_000 + index * 1000,
    actor: `user-${index % 3}`,
    source: '192.0.2.7',
    action: index % 2 === 0 ? 'device.update' : 'devicegroup.update',
    object: `truck-${index % 5}`,
    detail: { index },
    ...changed,
  });

/** A service with `count` sealed entries of `acme` and as many of `rival`, in turn. */
async function startWith(count: number, databasePath?: string) {
  const service = await startHttpService(databasePath === undefined ? {} : { databasePath });
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  const tokens = { acme: await service.login('acme', 'admin'), rival: await service.login('rival', 'admin') };
  await service.write(
    Array.from({ length: count }, (_, index) => [entry('acme', index), entry('rival', index)]).flat(),
  );
  await sealed(service);
  return { service, tokens };
}

async function sealed({ rows }: Service): Promise<void> {
  await waitUntil('every entry to be sealed', async () => {
    const [row] = await rows('SELECT COUNT(*) AS count FROM audit WHERE chain_no IS NULL');
    return Number(row?.['count']) === 0;
  });
}

const ask = ({ call }: Service, token: string, query = '') =>
  call({ path: `/api/v1/audit/check/authorization${query}`, token });
const check = async (service: Service, token: string, query = ''): Promise<Check> => {
  const answer = await ask(service, token, query);
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
  return answer.json() as unknown as Check;
};
const codeOf = (answer: Awaited<ReturnType<typeof ask>>) => (answer.json()['error'] as { code: string }).code;

describe('the list of the audit log', () => {
  let service: Service;
  let token = '';
  beforeAll(async () => {
    const { service: opened, tokens } = await startWith(30);
    service = opened;
    token = tokens.acme;
  });
  afterAll(() => service.close());

  const list = async (query: string) => {
    const answer = await service.call({ path: `/api/v1/audit/entries/authorization?${query}`, token });
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 200 });
    return answer.json() as unknown as {
      entries: { entryID: string; userID: string; action: string; object: string; timestamp: number }[];
      more: boolean;
      next: string | null;
    };
  };

  it('gives only what every filter matches', async () => {
    const { entries } = await list('actor=user-0&action=device.update&object=truck-0');
    expect(entries.map(({ timestamp }) => timestamp - 1_700_000_000)).toEqual([0]);
    const byActor = (await list('actor=user-1&limit=500')).entries;
    expect(byActor).toHaveLength(10);
    expect(new Set(byActor.map(({ userID }) => userID))).toEqual(new Set(['user-1']));
  });

  it('takes a resource for all of its actions, and for no other resource whose name begins so', async () => {
    const { entries } = await list('action=device&limit=500');
    expect(new Set(entries.map(({ action }) => action))).toEqual(new Set(['device.update']));
    expect((await list('action=login')).entries.map(({ action }) => action)).toEqual(['login']);
  });

  it('holds both ends of a period, in seconds', async () => {
    const { entries } = await list('from=1700000003&until=1700000005');
    expect(entries.map(({ timestamp }) => timestamp - 1_700_000_000)).toEqual([5, 4, 3]);
  });

  it('pages through what a filter matches without a double or a gap', async () => {
    const seen: string[] = [];
    let [cursor, pages] = ['', 0];
    for (let more = true; more; pages++) {
      const page = await list(`action=device&limit=4${cursor}`);
      seen.push(...page.entries.map(({ entryID }) => entryID));
      more = page.more;
      cursor = `&cursor=${page.next}`;
    }
    expect(seen).toHaveLength(15);
    expect(seen.map(Number)).toEqual(seen.map(Number).toSorted((one, other) => other - one));
    expect(pages).toBe(4);
  });

  it.each([
    'action=Device.update',
    'action=device.',
    'action=%25',
    'from=-1',
    'until=soon',
    'actor=',
    'who=ann',
  ])('refuses the query %s', async (query) => {
    const answer = await service.call({ path: `/api/v1/audit/entries/authorization?${query}`, token });
    expect(answer.status).toBe(422);
  });
});

describe('a filter that matches little of a long log', () => {
  it('is answered a part at a time, and finds all of it', async () => {
    const { service, tokens } = await startWith(0);
    const rare = (index: number) => entry('acme', index, { actor: 'rare' });
    await service.write([rare(1)]);
    // Already sealed, so that the sealer does not seal them for the rest of the test.
    await service.sql(`INSERT INTO audit (account_id, at_ms, actor, source, action, object, detail, detail_hash, chain_no)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${auditScanned + 5})
      SELECT 'acme', 1700000000000, 'often', '', 'device.update', 'x', '{}', '', 1000 + i FROM n`);
    await service.write([rare(2)]);
    const page = async (query: string) =>
      (
        await service.call({
          path: `/api/v1/audit/entries/authorization?actor=rare${query}`,
          token: tokens.acme,
        })
      ).json() as { entries: unknown[]; more: boolean; next: string | null };
    const first = await page('');
    expect({ count: first.entries.length, more: first.more }).toEqual({ count: 1, more: true });
    const second = await page(`&cursor=${first.next}`);
    expect({ count: second.entries.length, more: second.more }).toEqual({ count: 1, more: false });
    await service.close();
  });
});

describe('the check of the chain', () => {
  let service: Service;
  let tokens: { acme: string; rival: string };
  beforeAll(async () => {
    ({ service, tokens } = await startWith(20));
    await service.user('acme', 'olga', 'operator');
  });
  afterAll(() => service.close());

  it('says what was checked, from where to where, and gives a signed head to keep', async () => {
    const found = await check(service, tokens.acme);
    expect(found).toMatchObject({ fault: null, proven: true, unsealed: 0, more: false, next: null });
    expect(found.from?.chainNumber).toBe(1);
    expect(found.until?.chainNumber).toBe(found.entries);
    expect(found.length).toBe(found.entries);
    expect(found.head).toMatchObject({ chainNumber: found.entries });
    expect(found.head?.hash).toMatch(/^[0-9a-f]{64}$/);
    const again = await check(service, tokens.acme, `?head=${found.head?.signed}`);
    expect(again).toMatchObject({ fault: null, entries: found.entries });
  });

  it('is for administrators, and reaches the own account only', async () => {
    const olga = await service.login('acme', 'olga');
    expect(codeOf(await ask(service, olga))).toBe('forbidden');
    const theirs = await check(service, tokens.rival);
    const head = theirs.head?.signed ?? '';
    const answer = await ask(service, tokens.acme, `?head=${head}`);
    expect(answer.status).toBe(422);
    expect(answer.text).not.toContain('rival');
  });

  it('refuses a head that this service has not signed, and what is none', async () => {
    const other = createSigner(generateSigningKey().privatePem);
    const body = { accountID: 'acme', chainNo: 1, hash: 'f'.repeat(64), atMs: 1 };
    const forged = other.sign(new TextEncoder().encode(JSON.stringify(body)), 'fleetward-audit-head-1');
    for (const head of [forged, 'nothing', 'a'.repeat(2000)])
      expect(codeOf(await ask(service, tokens.acme, `?head=${head}`))).toBe('invalid_content');
    for (const cursor of ['1', '-1-aa', `1-${'F'.repeat(64)}`])
      expect(codeOf(await ask(service, tokens.acme, `?checked=${cursor}`))).toBe('invalid_content');
  });

  it('goes on from the end of a part, and holds only from the entry that it names', async () => {
    const [row] = await service.rows(
      "SELECT hash FROM audit WHERE account_id = 'acme' AND chain_no = 5 ORDER BY audit_no",
    );
    const rest = await check(service, tokens.acme, `?checked=5-${String(row?.['hash'])}`);
    expect(rest).toMatchObject({ fault: null, from: { chainNumber: 6 }, more: false });
    const wrong = await check(service, tokens.acme, `?checked=5-${'0'.repeat(64)}`);
    expect(wrong.fault).toMatchObject({ chainNumber: 6, reason: 'unlinked' });
  });
});

describe.runIf(bridgesOfTest === 1)('checks of one account that are asked for at once', () => {
  it('run one at a time: another is told to wait, and none keeps its place', async () => {
    let delayMs = 0;
    const service = await startHttpService({ storeDelayMs: () => delayMs });
    for (const accountID of ['acme', 'rival']) await service.account(accountID);
    const [acme, rival] = [await service.login('acme', 'admin'), await service.login('rival', 'admin')];
    await sealed(service);
    delayMs = 50;
    const running = Array.from({ length: 6 }, () => ask(service, acme));
    const other = ask(service, rival);
    const answers = await Promise.all(running);
    const throttled = answers.filter(({ status }) => status === 503);
    expect(throttled).toHaveLength(5);
    expect(throttled.every(({ headers }) => headers['retry-after'] === '1')).toBe(true);
    expect((await other).status).toBe(200);
    expect(await check(service, acme)).toMatchObject({ fault: null });
    await service.close();
  });
});

describe('the check of an empty log', () => {
  it('has nothing to check and nothing to complain of', async () => {
    const { service, tokens } = await startWith(0);
    await service.sql('DELETE FROM audit');
    await service.sql('DELETE FROM audit_heads');
    const found = await check(service, tokens.acme);
    expect(found).toMatchObject({
      entries: 0,
      from: null,
      until: null,
      fault: null,
      head: null,
      more: false,
    });
    await service.close();
  });
});

/** What another program does to the rows of `acme`, and what the check must say then. */
const attacks = [
  ['a changed actor', "UPDATE audit SET actor = 'bob' WHERE IS_5", { chainNumber: 5, reason: 'changed' }],
  ['a changed time', 'UPDATE audit SET at_ms = at_ms + 1 WHERE IS_5', { chainNumber: 5, reason: 'changed' }],
  [
    'a changed detail',
    "UPDATE audit SET detail = '{}' WHERE IS_5",
    { chainNumber: 5, reason: 'detail_changed' },
  ],
  ['a removed entry', 'DELETE FROM audit WHERE IS_5', { chainNumber: 5, entryID: null, reason: 'missing' }],
  [
    'the first entry removed',
    'DELETE FROM audit WHERE IS_1',
    { chainNumber: 1, entryID: null, reason: 'missing' },
  ],
  [
    'the newest entries removed',
    'DELETE FROM audit WHERE FROM_9',
    { chainNumber: 9, entryID: null, reason: 'cut_off' },
  ],
  [
    'every entry removed',
    'DELETE FROM audit WHERE FROM_1',
    { chainNumber: 1, entryID: null, reason: 'cut_off' },
  ],
  [
    'two entries that changed places',
    `UPDATE audit SET chain_no = 900 WHERE IS_4; UPDATE audit SET chain_no = 4 WHERE IS_7;
     UPDATE audit SET chain_no = 7 WHERE account_id = 'acme' AND chain_no = 900`,
    { chainNumber: 4, reason: 'unlinked' },
  ],
  [
    'the newest entries removed, and the kept head moved back',
    `DELETE FROM audit WHERE FROM_9;
     UPDATE audit_heads SET chain_no = 8, hash = (SELECT hash FROM audit WHERE IS_8) WHERE account_id = 'acme'`,
    { chainNumber: 9, reason: 'cut_off' },
  ],
  [
    'the newest entries and the kept head removed',
    "DELETE FROM audit WHERE FROM_9; DELETE FROM audit_heads WHERE account_id = 'acme'",
    { reason: 'head_missing' },
  ],
] as const;

const spelled = (text: string): string =>
  text
    .replaceAll(/IS_(\d+)/g, "account_id = 'acme' AND chain_no = $1")
    .replaceAll(/FROM_(\d+)/g, "account_id = 'acme' AND chain_no >= $1");

describe('what another program did to the log', () => {
  it.each(attacks)('is told: %s', async (_name, statements, expected) => {
    const { service, tokens } = await startWith(12);
    const before = await check(service, tokens.acme);
    for (const statement of spelled(statements).split(';')) await service.sql(statement);
    const found = await check(service, tokens.acme);
    expect(found.fault).toMatchObject(expected);
    expect(found.head).toBeNull();
    // The caller's own head stays good against all of it, and the other account's log holds.
    expect((await check(service, tokens.acme, `?head=${before.head?.signed}`)).fault).not.toBeNull();
    expect(await check(service, tokens.rival)).toMatchObject({ fault: null, proven: true });
    await service.close();
  });

  it('is told by the kept head of a caller when an older head was put back', async () => {
    const { service, tokens } = await startWith(8);
    const [older] = await service.rows("SELECT * FROM audit_heads WHERE account_id = 'acme'");
    const { chain_no: chainNo, hash, signed } = older ?? {};
    await service.write([entry('acme', 50)]);
    await sealed(service);
    const kept = (await check(service, tokens.acme)).head?.signed;
    await service.sql(`DELETE FROM audit WHERE account_id = 'acme' AND chain_no > ${String(chainNo)}`);
    await service.sql(
      `UPDATE audit_heads SET chain_no = ${String(chainNo)}, hash = '${String(hash)}', signed = '${String(signed)}'
       WHERE account_id = 'acme'`,
    );
    expect(await check(service, tokens.acme)).toMatchObject({ fault: null, proven: true });
    expect((await check(service, tokens.acme, `?head=${kept}`)).fault).toMatchObject({
      chainNumber: Number(chainNo) + 1,
      reason: 'cut_off',
    });
    await service.close();
  });

  it('is told as not proven when the head has not the signature of the service', async () => {
    const { service, tokens } = await startWith(8);
    await service.sql("UPDATE audit_heads SET signed = 'made.up.head' WHERE account_id = 'acme'");
    expect(await check(service, tokens.acme)).toMatchObject({ fault: null, proven: false });
    await service.close();
  });
});

/** Another program with the file open while the broker works on it. */
function inFile(path: string, statements: string): void {
  const program = `const db = new (require('better-sqlite3'))(process.argv[1]);
    db.pragma('busy_timeout = 20000'); db.exec(process.argv[2]); db.close();`;
  execFileSync(process.execPath, ['-e', program, path, statements], { timeout: 60_000 });
}

describe.skipIf(isOnPostgres)('another process that has the database file open', () => {
  it.each(attacks)('is found out: %s', async (_name, statements, expected) => {
    const path = join(temporaryFolder('audit'), 'fleet.db');
    const { service, tokens } = await startWith(12, path);
    expect(await check(service, tokens.acme)).toMatchObject({ fault: null });
    inFile(path, spelled(statements));
    expect((await check(service, tokens.acme)).fault).toMatchObject(expected);
    // What is done afterwards is chained, and hides nothing.
    await service.login('acme', 'admin');
    await sealed(service);
    expect((await check(service, tokens.acme)).fault).not.toBeNull();
    await service.close();
  });
});
