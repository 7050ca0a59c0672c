// What must be in the outbox follows from how far the numbers went and what is gone: over any history of storing, delivering
// and salvaging, the account equals the truth, its floor is never above a number that is left, and a loss is never outside of
// what it tells.

import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Account,
  appended,
  createSeqSet,
  floorOf,
  liveOf,
  lossOf,
  openAccount,
  removed,
  restored,
} from '../../agent/core/outbox/outbox-account.ts';
import { encodeRow, rowId } from '../../agent/core/outbox/outbox-row.ts';
import { carveRows, pageBytes } from '../../agent/core/outbox/page-carving.ts';
import { connectSqlite } from '../../src/adapters/database/sqlite.ts';
import { createFolder, record } from '../support/storage/outbox-bench.ts';

interface History {
  readonly account: Account;
  readonly live: ReadonlySet<number>;
}

type Step = readonly [kind: 'append' | 'remove' | 'restore', amount: number];

const stepArbitrary: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('append' as const, 'remove' as const, 'restore' as const),
  fc.integer({ min: 1, max: 40 }),
);

function live(steps: readonly Step[], before: number): History {
  let account = openAccount(before);
  const left = new Set<number>();
  for (const [kind, amount] of steps) {
    if (kind === 'append') {
      const from = account.lastSeq;
      account = appended(account, from + amount);
      for (let seq = from + 1; seq <= account.lastSeq; seq += 1) left.add(seq);
    } else if (kind === 'remove') {
      const gone = [...left].filter((seq) => seq % 41 < amount);
      for (const seq of gone) left.delete(seq);
      account = removed(account, { count: gone.length, sum: gone.reduce((sum, seq) => sum + seq, 0) });
    } else if (!left.has(amount * 3)) {
      account = restored(account, amount * 3);
      left.add(amount * 3);
    }
  }
  return { account, live: left };
}

const histories = fc
  .tuple(fc.array(stepArbitrary, { maxLength: 30 }), fc.integer({ min: 0, max: 50 }))
  .map(([steps, before]) => live(steps, before));

describe('an account', () => {
  it('derives the number of remaining events and their sum', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const sum = [...history.live].reduce((all, seq) => all + seq, 0);
        expect(liveOf(history.account)).toEqual({ count: history.live.size, sum });
      }),
    );
  });

  it('has a floor that is no higher than the lowest that is left', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const lowest = Math.min(...history.live, history.account.lastSeq + 1);
        expect(floorOf(history.account)).toBeLessThanOrEqual(lowest);
      }),
    );
  });

  it('knows the floor exactly when all was delivered in order', () => {
    const account = removed(appended(openAccount(), 100), { count: 90, sum: (90 * 91) / 2 });
    expect(floorOf(account)).toBe(91);
    expect(floorOf(removed(account, { count: 10, sum: 955 }))).toBe(101);
  });

  it('reports a loss between true bounds, whatever older rows are found as well', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 0, max: 40 }), fc.boolean(), (history, kept, withOld) => {
        const found = createSeqSet();
        const floor = floorOf(history.account);
        const isFound = (seq: number): boolean => seq % 41 <= kept;
        for (let seq = floor; seq <= history.account.lastSeq; seq += 1)
          if (isFound(seq) && (withOld || history.live.has(seq))) found.add(seq);
        const lost = [...history.live].filter((seq) => !isFound(seq)).length;
        const { least, most } = lossOf(history.account, found);
        expect(least).toBeLessThanOrEqual(lost);
        expect(most).toBeGreaterThanOrEqual(lost);
        if (history.live.size === history.account.lastSeq) expect([least, most]).toEqual([lost, lost]);
      }),
    );
  });
});

it('a set of numbers holds each added number once', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 200_000 })), (seqs) => {
      const set = createSeqSet();
      const truth = new Set<number>();
      for (const seq of seqs) {
        expect(set.has(seq)).toBe(truth.has(seq));
        expect(set.add(seq)).toBe(!truth.has(seq));
        truth.add(seq);
      }
      expect([set.size, set.last]).toEqual([truth.size, Math.max(0, ...seqs)]);
    }),
  );
});

describe('a page of rows', () => {
  /** The leaf page of a table with six rows, as SQLite writes it. */
  function leafPage(): Uint8Array {
    const place = createFolder();
    const connection = connectSqlite({ path: place.path, pageSize: 512 });
    connection.write([{ sql: 'CREATE TABLE p3 (id INTEGER PRIMARY KEY, body BLOB NOT NULL)', params: [] }]);
    for (let seq = 1; seq <= 6; seq += 1) {
      const body = encodeRow({ boot: 'boot-1', priority: 3, event: { ...record(3, seq).event, seq } });
      connection.write([{ sql: 'INSERT INTO p3 (id, body) VALUES ($1, $2)', params: [rowId(1, seq), body] }]);
    }
    connection.close();
    const page = readFileSync(place.path).subarray(pageBytes, 2 * pageBytes);
    place.remove();
    return page;
  }

  it('with any one bit flipped yields all rows except at most one, and no false row', () => {
    const page = leafPage();
    const whole = carveRows(page, () => null);
    expect(whole).toHaveLength(6);
    const truth = new Map(whole.map((row) => [row.event.seq, JSON.stringify(row)]));
    for (let bit = 0; bit < pageBytes * 8; bit += 1) {
      const bad = Uint8Array.from(page);
      bad[bit >> 3] = (bad[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const rows = carveRows(bad, () => null);
      const seqs = new Set(rows.map((row) => row.event.seq));
      expect(seqs.size, `bit ${bit}`).toBeGreaterThanOrEqual(5);
      for (const row of rows) expect(JSON.stringify(row)).toBe(truth.get(row.event.seq));
    }
  });
});
