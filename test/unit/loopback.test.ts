// The loop-back: a board proves that it is alive by an input that follows a spare output, both ways. One that repeats
// old bits, answers late, or was lost since, proves nothing.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  boardAnsweredMs,
  createLoopback,
  type LoopbackState,
  recordLoopbackInput,
  recordLoopbackOrder,
  recordLoopbackOutput,
  stepLoopback,
} from '../../agent/core/board/loopback.ts';

const sampleMs = 40;
const confirmMs = 80;

/** A board with a wire from its output to its input, sampled every 40 ms. */
function createRig() {
  let state: LoopbackState = createLoopback();
  let nowMs = 0;
  let order: { readonly on: boolean; readonly dueMs: number } | null = null;
  const rig = {
    /** The contact of the output. */
    contact: false,
    /** What the input reads; as a good board by default. */
    read: (contact: boolean, _nowMs: number): boolean | null => contact,
    /** Orders are read back as carried out. */
    follows: true,
    /** False: no sample arrives. */
    samples: true,
    isWanted: true,
    orders: [] as { readonly on: boolean; readonly atMs: number }[],
    /** Contact and moment of each move. */
    moves: [] as { readonly on: boolean; readonly atMs: number }[],
    now: () => nowMs,
    state: () => state,
    answeredMs: () => boardAnsweredMs(state),
    lose() {
      state = recordLoopbackOutput(recordLoopbackInput(state, null, nowMs), null, nowMs);
    },
    find() {
      state = recordLoopbackOutput(state, rig.contact, nowMs);
    },
    run(forMs: number) {
      for (const endMs = nowMs + forMs; nowMs < endMs; ) {
        nowMs += sampleMs;
        if (order !== null && nowMs >= order.dueMs) {
          const { on } = order;
          order = null;
          if (rig.follows && rig.contact !== on) rig.moves.push({ on, atMs: nowMs });
          if (rig.follows) rig.contact = on;
          const outcome = rig.contact === on ? 'confirmed' : 'mismatch';
          state = recordLoopbackOrder(state, { outcome, readBack: rig.contact }, nowMs);
        }
        if (rig.samples) state = recordLoopbackInput(state, rig.read(rig.contact, nowMs), nowMs);
        if (nowMs % 5000 === 0) state = recordLoopbackOutput(state, rig.contact, nowMs);
        const step = stepLoopback(state, rig.isWanted, nowMs);
        state = step.state;
        if (step.order === null) continue;
        rig.orders.push({ on: step.order, atMs: nowMs });
        order = { on: step.order, dueMs: nowMs + confirmMs };
      }
      return rig;
    },
  };
  rig.find();
  return rig;
}

describe('the loop-back', () => {
  it('answers as long as the input follows both edges, with one toggle in five seconds, and rests de-energised', () => {
    const rig = createRig().run(60_000);
    expect(rig.now() - (rig.answeredMs() ?? 0)).toBeLessThan(6000);
    const on = rig.orders.filter((order) => order.on);
    expect(on).toHaveLength(12);
    const gaps = on.slice(1).map(({ atMs }, at) => atMs - (on[at]?.atMs ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(5000);
    rig.isWanted = false;
    const before = rig.run(2000).orders.length;
    rig.run(60_000);
    expect(rig.orders).toHaveLength(before);
    expect(rig.contact).toBe(false);
  });

  it('does not toggle the output while no change waits, and switches off one that is on', () => {
    const rig = createRig();
    rig.isWanted = false;
    expect(rig.run(20_000).orders).toEqual([]);
    rig.contact = true;
    rig.find();
    rig.run(5000);
    expect(rig.orders.map(({ on }) => on)).toEqual([false]);
    expect(rig.contact).toBe(false);
  });

  it('never answers on a board that repeats its last reading, from whatever moment', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 }), fc.boolean(), (samples, isSilentToo) => {
        const rig = createRig().run(samples * sampleMs);
        const { contact } = rig;
        rig.read = () => contact;
        if (isSilentToo) rig.follows = false;
        const fromMs = rig.now();
        rig.run(30_000);
        expect(rig.answeredMs()).toBeNull();
        expect(fromMs).toBeLessThan(rig.now());
      }),
    );
  });

  it('never answers by edges that it did not order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(true, false, null), { minLength: 1, maxLength: 60 }), (bits) => {
        const rig = createRig();
        // The output does not switch: whatever the input does is its own doing.
        rig.follows = false;
        rig.read = (_, nowMs) => bits[(nowMs / sampleMs) % bits.length] ?? null;
        for (let at = 0; at < 500; at += 1) {
          rig.run(sampleMs);
          expect(rig.answeredMs()).toBeNull();
        }
      }),
    );
  });

  it('answers only after the input showed both edges of one toggle, each within two seconds of its order', () => {
    const lag = fc.integer({ min: 0, max: 4000 });
    fc.assert(
      fc.property(fc.array(lag, { minLength: 1, maxLength: 4 }), (lags) => {
        const rig = createRig();
        const lagAt = (atMs: number): number => lags[Math.floor(atMs / 7000) % lags.length] ?? 0;
        /** The contact as it was a while ago. */
        rig.read = (_, nowMs) => {
          const seenMs = nowMs - lagAt(nowMs);
          return rig.moves.findLast(({ atMs }) => atMs <= seenMs)?.on ?? false;
        };
        let before: number | null = null;
        for (let at = 0; at < 1000; at += 1) {
          rig.run(sampleMs);
          const answeredMs = rig.answeredMs();
          if (answeredMs !== null && answeredMs !== before) {
            const [rise, fall] = rig.moves.slice(-2);
            expect([rise?.on, fall?.on]).toEqual([true, false]);
            expect(answeredMs - (fall?.atMs ?? 0)).toBeLessThanOrEqual(2000);
            expect((fall?.atMs ?? 0) - (rise?.atMs ?? 0)).toBeLessThanOrEqual(
              2000 + confirmMs + 2 * sampleMs,
            );
          }
          before = answeredMs;
        }
        if (lags.every((ms) => ms > 2100)) expect(rig.answeredMs()).toBeNull();
        if (lags.every((ms) => ms < 1800)) expect(rig.answeredMs()).not.toBeNull();
      }),
    );
  });

  it('voids its answer after a loss of the board, a silent input, a wrong bit at rest, or an output that does not follow', () => {
    const losses: readonly ((rig: ReturnType<typeof createRig>) => void)[] = [
      (rig) => rig.lose(),
      (rig) => {
        rig.samples = false;
        rig.run(2200);
      },
      (rig) => {
        rig.read = () => true;
        rig.run(sampleMs);
      },
      (rig) => {
        rig.contact = true;
        rig.find();
      },
      (rig) => {
        rig.follows = false;
        rig.run(6000);
      },
    ];
    for (const [at, loss] of losses.entries()) {
      const rig = createRig().run(12_000);
      expect(rig.answeredMs(), `before loss ${at}`).not.toBeNull();
      loss(rig);
      expect(rig.answeredMs(), `after loss ${at}`).toBeNull();
    }
  });

  it('answers again after the board returned, by a toggle ordered since', () => {
    const rig = createRig().run(12_000);
    rig.lose();
    const lostMs = rig.now();
    rig.find();
    rig.run(12_000);
    expect(rig.answeredMs() ?? 0).toBeGreaterThan(lostMs);
  });
});
