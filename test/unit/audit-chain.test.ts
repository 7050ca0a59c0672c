// The audit log shows every change that is made to it afterwards, wherever it is made: real store, sealer and verifier.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAuditSealer } from '../../broker/audit/sealer.ts';
import type { SignedHead } from '../../broker/audit/signed-head.ts';
import { auditHeads, readHeads, verifyAudit } from '../../broker/audit/verify.ts';
import { insertAudit } from '../../broker/store/accounts/audit.ts';
import { sha256 } from '../../broker/store/accounts/audit-log.ts';
import { createSigner, createVerifier, generateSigningKey, publicKeyOf } from '../../src/adapters/signing.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { createBenchClock, createBenchLog, openBenchDatabase } from '../support/broker/broker-bench.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const { privatePem } = generateSigningKey();
const signer = createSigner(privatePem);
const verifier = createVerifier(publicKeyOf(privatePem));

const entry = (accountID: string, index: number): Statement =>
  insertAudit({
    accountID,
    atMs: 1000 + index,
    actor: `user-${index % 3}`,
    source: '192.0.2.7',
    action: 'command.request',
    object: `truck-${index}`,
    detail: { state: '1', index },
  });

/** Two chains of `length` entries, sealed and mixed in the order of numbers: odd ones acme's, even ones rival's. */
async function createBench(length: number) {
  const db = await openBenchDatabase();
  const clock = createBenchClock();
  const log = createBenchLog();
  const sealer = createAuditSealer({ db, clock, log, signer, verifier });
  for (let index = 0; index < length; index++) {
    await db.write([entry('acme', index), entry('rival', index)]);
    if (index % 4 === 3) await sealer.seal();
  }
  await sealer.seal();
  return { db, clock, log, sealer };
}

const verify = (db: Database, saved: readonly SignedHead[] = []) =>
  verifyAudit({
    db,
    clock: createBenchClock(),
    verifier,
    accountID: null,
    saved,
    onProgress: () => undefined,
  });

const length = 9;
const place = fc.integer({ min: 1, max: length });
const nth = (chainNo: number): Statement => sql`(SELECT audit_no FROM audit
  WHERE account_id = 'acme' AND chain_no = ${chainNo})`;

describe('the audit log', () => {
  it('verifies when untouched, and reports how much was checked', async () => {
    const { db, sealer } = await createBench(length);
    expect(await verify(db)).toEqual({
      chains: 2,
      entries: 2 * length,
      erased: 0,
      unsealed: 0,
      unproven: 0,
      faults: [],
    });
    await sealer.close();
  });

  const columns = {
    audit_no: sql`audit_no + 1000`,
    account_id: sql`'rival-2'`,
    at_ms: sql`at_ms + 1`,
    actor: sql`actor || 'x'`,
    source: sql`''`,
    action: sql`'command.cancel'`,
    object: sql`'truck-99'`,
    detail: sql`'{"state":"0"}'`,
    detail_hash: sql`'${{ sql: sha256('{"state":"0"}'), params: [] }}'`,
    chain_no: sql`chain_no + 100`,
    prev_hash: sql`'${{ sql: sha256('x'), params: [] }}'`,
    hash: sql`'${{ sql: sha256('y'), params: [] }}'`,
  } as const;

  it.each(Object.keys(columns) as (keyof typeof columns)[])(
    'shows a change of %s in any entry',
    async (column) => {
      await fc.assert(
        fc.asyncProperty(place, async (chainNo) => {
          const { db, sealer } = await createBench(length);
          const name: Statement = { sql: column, params: [] };
          await db.write([
            sql`UPDATE audit SET ${name} = ${columns[column]} WHERE audit_no = ${nth(chainNo)}`,
          ]);
          // At the very end a row that is moved away leaves no gap: that shows in the chain it came to, or by its place.
          const { faults } = await verify(db);
          expect(faults.length).toBeGreaterThan(0);
          expect(faults[0]?.chainNo).toBeLessThanOrEqual(chainNo === length ? length + 100 : chainNo);
          await sealer.close();
          await db.close();
        }),
        { numRuns: 6 },
      );
    },
  );

  it('shows a change that makes detail and its hash fit each other again', async () => {
    const { db } = await createBench(length);
    const detail = '{"state":"0"}';
    await db.write([
      sql`UPDATE audit SET detail = ${detail}, detail_hash = ${sha256(detail)} WHERE audit_no = ${nth(4)}`,
    ]);
    expect((await verify(db)).faults).toEqual([
      { accountID: 'acme', chainNo: 4, auditNo: 7, reason: 'changed' },
    ]);
  });

  it('shows a deletion anywhere, also of the newest entries', async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 3 }), async (chainNo, count) => {
        const { db, clock } = await createBench(length);
        const saved = readHeads(
          (await auditHeads({ db, clock, signer }, null)).map(({ signed }) => signed).join('\n'),
          verifier,
        );
        const last = Math.min(length, chainNo + count - 1);
        await db.write([
          sql`DELETE FROM audit WHERE account_id = 'acme' AND chain_no BETWEEN ${chainNo} AND ${last}`,
        ]);
        const reason = last === length ? 'cut_off' : 'missing';
        expect((await verify(db)).faults).toEqual([{ accountID: 'acme', chainNo, auditNo: null, reason }]);
        expect((await verify(db, saved)).faults).toMatchObject([{ accountID: 'acme', chainNo }]);
        await db.close();
      }),
      { numRuns: 15 },
    );
  });

  it('shows that a whole chain is missing, without the kept head only against a saved one', async () => {
    const { db, clock } = await createBench(2);
    const saved = await auditHeads({ db, clock, signer }, null);
    await db.write([sql`DELETE FROM audit WHERE account_id = 'acme'`]);
    expect((await verify(db)).faults).toMatchObject([{ accountID: 'acme', chainNo: 1, reason: 'cut_off' }]);
    await db.write([sql`DELETE FROM audit_heads WHERE account_id = 'acme'`]);
    expect((await verify(db)).faults).toEqual([]);
    expect((await verify(db, saved)).faults).toMatchObject([{ accountID: 'acme', chainNo: 1 }]);
  });

  it('shows two entries that changed places', async () => {
    await fc.assert(
      fc.asyncProperty(place, place, async (one, other) => {
        fc.pre(one !== other);
        const { db } = await createBench(length);
        const move = (from: number, to: number) =>
          sql`UPDATE audit SET chain_no = ${to} WHERE account_id = 'acme' AND chain_no = ${from}`;
        await db.write([move(one, 1000), move(other, one), move(1000, other)]);
        expect((await verify(db)).faults).toMatchObject([
          { accountID: 'acme', chainNo: Math.min(one, other) },
        ]);
        await db.close();
      }),
      { numRuns: 15 },
    );
  });

  it('shows an entry that was put in between, also one with a good hash of its own', async () => {
    await fc.assert(
      fc.asyncProperty(place, async (chainNo) => {
        const { db, clock, sealer } = await createBench(length);
        const saved = await auditHeads({ db, clock, signer }, 'acme');
        await db.write([
          // From the far end, so that no two rows hold one place on the way.
          ...Array.from({ length: length - chainNo + 1 }, (_, index) => length - index).map(
            (no) => sql`UPDATE audit SET chain_no = ${no + 1} WHERE account_id = 'acme' AND chain_no = ${no}`,
          ),
          entry('acme', 500),
          sql`UPDATE audit SET chain_no = ${chainNo}, prev_hash = (SELECT COALESCE((SELECT hash FROM audit
              WHERE account_id = 'acme' AND chain_no = ${chainNo - 1}), '0')), hash = 'made-up'
            WHERE chain_no IS NULL`,
        ]);
        expect((await verify(db, saved)).faults).toMatchObject([{ accountID: 'acme', chainNo }]);
        await sealer.close();
        await db.close();
      }),
      { numRuns: 9 },
    );
  });

  it('shows an entry that was taken out of the chain to be sealed anew', async () => {
    const { db, sealer } = await createBench(length);
    await db.write([
      sql`UPDATE audit SET chain_no = NULL, prev_hash = NULL, hash = NULL, object = 'x' WHERE audit_no = ${nth(5)}`,
    ]);
    await sealer.seal();
    expect((await verify(db)).faults).toMatchObject([{ accountID: 'acme', chainNo: 5, reason: 'missing' }]);
  });

  it('still verifies when details are erased, and counts them', async () => {
    const { db } = await createBench(length);
    await db.write([sql`UPDATE audit SET detail = NULL WHERE account_id = 'acme'`]);
    expect(await verify(db)).toMatchObject({ erased: length, faults: [] });
  });

  it('reports entries that remain unsealed', async () => {
    const { db } = await createBench(1);
    await db.write([entry('acme', 5)]);
    expect(await verify(db)).toMatchObject({ unsealed: 1, faults: [] });
  });
});

describe('the kept head of a chain', () => {
  const cutOff = (chainNo: number): Statement =>
    sql`DELETE FROM audit WHERE account_id = 'acme' AND chain_no >= ${chainNo}`;

  it('stays where it is after the newest entries were removed, however many come after them', async () => {
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 12 }), async (chainNo, further) => {
        const { db, sealer } = await createBench(length);
        await db.write([cutOff(chainNo)]);
        for (let index = 0; index < further; index++) {
          await db.write([entry('acme', 100 + index)]);
          await sealer.seal();
        }
        expect((await verify(db)).faults).toMatchObject([{ accountID: 'acme' }]);
        await sealer.close();
        await db.close();
      }),
      { numRuns: 20 },
    );
  });

  it('shows a last entry that was taken out, changed and sealed anew', async () => {
    const { db, sealer } = await createBench(length);
    await db.write([
      sql`UPDATE audit SET chain_no = NULL, prev_hash = NULL, hash = NULL, object = 'x' WHERE audit_no = ${nth(length)}`,
    ]);
    await sealer.seal();
    expect((await verify(db)).faults).toMatchObject([{ chainNo: length, reason: 'replaced' }]);
    await sealer.close();
  });

  it('is missed when it was removed, and is not made again', async () => {
    const { db, sealer } = await createBench(length);
    await db.write([cutOff(5), sql`DELETE FROM audit_heads WHERE account_id = 'acme'`, entry('acme', 50)]);
    await sealer.seal();
    expect((await verify(db)).faults).toMatchObject([{ accountID: 'acme', reason: 'head_missing' }]);
    await sealer.close();
  });

  it('with the signature of another key is taken over, and an entry says so for good', async () => {
    const { db, sealer } = await createBench(length);
    await db.write([
      cutOff(5),
      sql`UPDATE audit_heads SET chain_no = 4, signed = 'made.up.head',
        hash = (SELECT hash FROM audit WHERE account_id = 'acme' AND chain_no = 4) WHERE account_id = 'acme'`,
      entry('acme', 50),
    ]);
    await sealer.seal();
    await sealer.seal();
    expect(await verify(db)).toMatchObject({ unproven: 0, faults: [] });
    expect(
      await db.read(sql`SELECT actor, chain_no, detail FROM audit WHERE action = 'audit.adopthead'`),
    ).toEqual([{ actor: 'service', chain_no: 6, detail: '{"chainNumber":4}' }]);
    await sealer.close();
  });

  it('is not proven when another program moved it back, and what it signed still counts', async () => {
    const { db, sealer } = await createBench(length);
    const moved = sql`UPDATE audit_heads SET chain_no = 4,
      hash = (SELECT hash FROM audit WHERE account_id = 'acme' AND chain_no = 4)`;
    await db.write([cutOff(5), sql`${moved} WHERE account_id = 'acme'`]);
    expect((await verify(db)).faults).toMatchObject([{ chainNo: 5, reason: 'cut_off' }]);
    await db.write([entry('acme', 50)]);
    await sealer.seal();
    expect((await verify(db)).faults).toMatchObject([{ chainNo: 6, reason: 'cut_off' }]);
    await db.write([sql`UPDATE audit_heads SET signed = 'made.up.head' WHERE account_id = 'acme'`]);
    expect(await verify(db)).toMatchObject({ unproven: 1, faults: [] });
    await sealer.close();
  });
});

describe('the sealer', () => {
  it('may run twice at once over one store: one chain, every entry in it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(2), { minLength: 5, maxLength: 40 }), async (steps) => {
        const db = await openBenchDatabase();
        const clock = createBenchClock();
        const sealers = [0, 1].map(() =>
          createAuditSealer({ db, clock, log: createBenchLog(), signer, verifier }),
        );
        let entries = 0;
        const running: Promise<unknown>[] = [];
        for (const one of steps) {
          const sealer = sealers[one];
          if (sealer !== undefined) running.push(sealer.seal());
          else await db.write([entry('acme', entries++), entry('rival', entries++)]);
        }
        await Promise.all(running);
        for (const sealer of sealers) await sealer.close();
        expect(await verify(db)).toMatchObject({ entries, faults: [] });
        await db.close();
      }),
      { numRuns: 50 },
    );
  });

  it('seals by itself within a second or so, and all that is left when it closes', async () => {
    const db = await openBenchDatabase();
    const clock = createBenchClock();
    const sealer = createAuditSealer({ db, clock, log: createBenchLog(), signer, verifier });
    await db.write([entry('acme', 1)]);
    clock.advance(1000);
    await waitUntil('the first seal', async () => (await verify(db)).entries === 1);
    await db.write([entry('acme', 2)]);
    await sealer.close();
    expect((await verify(db)).entries).toBe(2);
  });

  it('logs the signed head of each chain that grew, once an hour', async () => {
    const { db, clock, log, sealer } = await createBench(3);
    const heads = () => log.lines.filter(({ event }) => event === 'audit_head').map(({ fields }) => fields);
    const hour = async () => {
      for (let second = 0; second < 3600; second++) {
        clock.advance(1000);
        await new Promise(setImmediate);
      }
    };
    await hour();
    expect(heads().map(({ accountID, chainNo }) => [accountID, chainNo])).toEqual([
      ['acme', 3],
      ['rival', 3],
    ]);
    await db.write([entry('acme', 9)]);
    await hour();
    expect(
      heads()
        .map(({ accountID, chainNo }) => [accountID, chainNo])
        .slice(2),
    ).toEqual([['acme', 4]]);
    const text = heads()
      .map((fields) => JSON.stringify(fields))
      .join('\n');
    expect(readHeads(text, verifier)).toHaveLength(3);
    expect((await verify(db, readHeads(text, verifier))).faults).toEqual([]);
    await sealer.close();
  });
});

describe('saved heads', () => {
  it('count only with the signature of this broker', async () => {
    const { db, clock } = await createBench(1);
    const other = createSigner(generateSigningKey().privatePem);
    const [forged] = await auditHeads({ db, clock, signer: other }, 'acme');
    expect(() => readHeads(forged?.signed ?? '', verifier)).toThrow('not signed by this broker');
    expect(() => readHeads('nothing', verifier)).toThrow('no signed head');
  });
});
