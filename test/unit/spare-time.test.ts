// Work in the background takes what vehicles leave: nothing stands in its way while none of them waits, it steps back as soon
// as one does, and it goes on however long they wait.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AdaptiveBatchRules, nextSize } from '../../broker/core/scheduling/adaptive-batch.ts';
import { nextShare, restMs, type ThrottleRules } from '../../broker/core/scheduling/aimd-throttle.ts';
import { createSpareTime, inSpareTime } from '../../broker/scheduling/spare-time.ts';
import { createPacedBatches, createPauses } from '../../broker/upkeep/paced-batches.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { createBenchClock } from '../support/broker/broker-bench.ts';

const rules: ThrottleRules = { lateMs: 8, least: 0.1, most: 1, restMostMs: 200 };
const waits = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { maxLength: 200 });

describe('the share of the time', () => {
  test('is halved at once when a write waits too long, and given back by small steps', () => {
    expect(nextShare(rules, 1, 9)).toBe(0.5);
    expect(nextShare(rules, 0.5, 0)).toBeCloseTo(0.52);
    let share = 1;
    for (const waitedMs of [9, 9, 9, 9, 9]) share = nextShare(rules, share, waitedMs);
    expect(share).toBe(rules.least);
    for (let piece = 0; piece < 45; piece++) share = nextShare(rules, share, 8);
    expect(share).toBe(1);
  });

  test('stays within its limits, whatever was seen, and no rest has no end', () => {
    fc.assert(
      fc.property(waits, fc.double({ min: 0, max: 1e9, noNaN: true }), (seen, tookMs) => {
        let share = rules.most;
        for (const waitedMs of seen) {
          share = nextShare(rules, share, waitedMs);
          expect(share).toBeGreaterThanOrEqual(rules.least);
          expect(share).toBeLessThanOrEqual(rules.most);
          expect(restMs(rules, share, tookMs)).toBeGreaterThanOrEqual(0);
          expect(restMs(rules, share, tookMs)).toBeLessThanOrEqual(rules.restMostMs);
        }
      }),
    );
  });

  test('is what the rest leaves of the time', () => {
    expect(restMs(rules, 1, 10)).toBe(0);
    expect(restMs(rules, 0.5, 10)).toBe(10);
    expect(restMs(rules, 0.25, 10)).toBe(30);
  });
});

const pieceRules: AdaptiveBatchRules = { targetMs: 20, first: 200, least: 100, most: 20_000 };

describe('the size of a piece', () => {
  test.each([
    { name: 'a quick disk', fixedMs: 1, rowUs: 2, fits: 9500 },
    { name: 'a disk that is slow for each row', fixedMs: 2, rowUs: 60, fits: 300 },
    { name: 'a disk on which even the least is too much', fixedMs: 30, rowUs: 1000, fits: 100 },
  ])('comes to what fits into the time: $name', ({ fixedMs, rowUs, fits }) => {
    let size = pieceRules.first;
    for (let piece = 0; piece < 60; piece++) {
      size = nextSize(pieceRules, size, { rows: size, ms: fixedMs + (size * rowUs) / 1000 });
    }
    expect(size).toBeGreaterThan(fits * 0.9);
    expect(size).toBeLessThan(fits * 1.1);
  });

  test('never leaves its limits, nor jumps', () => {
    fc.assert(
      fc.property(waits, (times) => {
        let size = pieceRules.first;
        for (const ms of times) {
          const next = nextSize(pieceRules, size, { rows: size, ms });
          expect(next).toBeGreaterThanOrEqual(Math.max(pieceRules.least, Math.floor(size / 2)));
          expect(next).toBeLessThanOrEqual(Math.min(pieceRules.most, Math.ceil(size * 1.5)));
          size = next;
        }
      }),
    );
  });

  test('does not follow one slow piece among quick ones, which waited for another client', async () => {
    const asked: number[] = [];
    let nowMs = 0;
    const pieces = createPacedBatches({ monoMs: () => nowMs }, pieceRules);
    for (const ms of [20, 20, 200, 20, 200, 200, 20]) {
      await pieces.run(async (rows) => {
        asked.push(rows);
        nowMs += ms;
        return rows;
      });
    }
    expect(asked).toEqual([200, 200, 200, 200, 200, 200, 100]);
  });

  test('is not raised by a last piece that was not full', () => {
    expect(nextSize(pieceRules, 500, { rows: 3, ms: 1 })).toBe(500);
    expect(nextSize(pieceRules, 500, { rows: 3, ms: 40 })).toBe(250);
  });
});

describe('the rests of retention', () => {
  test('are as long as its commits, and longer and longer while vehicles wait, up to a second', () => {
    let lagMs = 0;
    const rest = createPauses(() => lagMs);
    expect(rest(20)).toBe(20);
    expect(rest(1)).toBe(10);
    // What came during the piece has waited for it and no more.
    lagMs = 110;
    expect(rest(100)).toBe(100);
    lagMs = 200;
    const longer = Array.from({ length: 8 }, () => rest(100));
    expect(longer).toEqual([300, 700, 1000, 1000, 1000, 1000, 1000, 1000]);
    lagMs = 0;
    const back = Array.from({ length: 23 }, () => rest(10));
    expect(back.at(-1)).toBeCloseTo(10);
  });
});

/** Spare time beside a store whose lag the test sets; each piece takes 5 ms of the clock. */
function bench() {
  const clock = createBenchClock();
  const state = { lagMs: 0, running: 0, most: 0 };
  const spare = createSpareTime({ clock, lagMs: () => state.lagMs, turn: () => Promise.resolve() });
  const done: string[] = [];
  const piece = (name: string): Promise<void> =>
    spare.take(async () => {
      state.running += 1;
      state.most = Math.max(state.most, state.running);
      await new Promise<void>((resolve) => void clock.after(5, resolve));
      state.running -= 1;
      done.push(name);
    });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed++) {
      clock.advance(1);
      for (let step = 0; step < 20; step++) await Promise.resolve();
    }
  };
  return { clock, state, spare, done, piece, pass };
}

describe('spare time', () => {
  test('is all of it while no vehicle waits: pieces are done as they come, side by side', async () => {
    const { state, done, piece, pass } = bench();
    const all = Promise.all(['a', 'b', 'c'].map(piece));
    await pass(6);
    await all;
    expect(done).toEqual(['a', 'b', 'c']);
    expect(state.most).toBe(3);
  });

  test('goes on after the timer of a rest, also by a clock that stands still', async () => {
    const after = (delayMs: number, run: () => void) => {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    };
    let nowMs = 0;
    const spare = createSpareTime({ clock: { monoMs: () => nowMs, after }, lagMs: () => 100 });
    await spare.take(async () => void (nowMs += 10));
    await new Promise(setImmediate);
    await expect(spare.take(async () => 'done')).resolves.toBe('done');
  });

  test('is one piece at a time, in order and with rests between, while a write waits', async () => {
    const { state, done, piece, pass } = bench();
    state.lagMs = 50;
    await Promise.all([piece('first'), pass(6)]);
    state.most = 0;
    const all = Promise.all(['a', 'b', 'c'].map(piece));
    await pass(4);
    expect(done).toEqual(['first']);
    await pass(40);
    expect(done).toEqual(['first', 'a', 'b']);
    await pass(60);
    await all;
    expect(done).toEqual(['first', 'a', 'b', 'c']);
    expect(state.most).toBe(1);
  });

  test('returns when no vehicle waits any more', async () => {
    const { state, done, piece, pass } = bench();
    state.lagMs = 50;
    const late = Promise.all(Array.from({ length: 4 }, (_unused, at) => piece(`late ${at}`)));
    await pass(300);
    await late;
    state.lagMs = 0;
    for (let at = 0; at < 50; at++) await Promise.all([piece(`quick ${at}`), pass(60)]);
    done.length = 0;
    state.most = 0;
    await Promise.all([...['a', 'b', 'c'].map(piece), pass(6)]);
    expect(done).toEqual(['a', 'b', 'c']);
    expect(state.most).toBe(3);
  });

  test('is never nothing: whatever waits, every piece is done, and one that fails delays no other', async () => {
    const { state, spare, done, piece, pass } = bench();
    state.lagMs = 1_000_000;
    const failing = spare.take(() => Promise.reject(new Error('no such page')));
    const all = Promise.all(Array.from({ length: 20 }, (_unused, at) => piece(String(at))));
    await expect(failing).rejects.toThrow('no such page');
    await pass(20 * 60);
    await all;
    expect(done).toHaveLength(20);
  });

  test('takes reads as patient ones, and writes as they are', async () => {
    const read: Statement[] = [];
    const written: Statement[] = [];
    const db: Database = {
      read: async (statement) => {
        read.push(statement);
        return [];
      },
      write: async (batch) => {
        written.push(...batch);
        return [];
      },
      close: async () => undefined,
    };
    const { spare } = bench();
    const archive = inSpareTime(db, spare);
    await archive.read(sql`SELECT 1`);
    await archive.write([sql`UPDATE t SET a = 1`]);
    expect(read).toEqual([{ sql: 'SELECT 1', params: [], isPatient: true }]);
    expect(written).toEqual([{ sql: 'UPDATE t SET a = 1', params: [] }]);
  });
});
