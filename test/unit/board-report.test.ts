// What operators hear of a bad bus: a loss at once, a return once it has lasted, and never more than a few events, while what
// the interlock goes by follows every single loss.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BoardReport,
  type BoardReportState,
  boardReportLimits,
  createBoardReport,
  stepBoardReport,
} from '../../agent/core/board/board-report.ts';
import { evidenceOf } from '../../agent/core/kernel/vehicle-state.ts';
import { createVehicleRig } from '../support/vehicle/vehicle-rig.ts';

/** Tells `turns` (the board is lost and back, alternately, at these times) and, in between, time every 500 ms. */
function live(turnsMs: readonly number[], untilMs: number) {
  const told: BoardReport[] = [];
  let news: BoardReportState = createBoardReport(0, false);
  let turn = 0;
  for (let atMs = 0; atMs <= untilMs; atMs += 500) {
    while ((turnsMs[turn] ?? Infinity) <= atMs) {
      const kind = turn % 2 === 0 ? 'lost' : 'answers';
      const step = stepBoardReport(news, { kind, atMs: turnsMs[turn] ?? 0, reason: 'no answer' });
      news = step.state;
      if (step.report !== null) told.push(step.report);
      turn += 1;
    }
    const step = stepBoardReport(news, { kind: 'time', atMs });
    news = step.state;
    if (step.report !== null) told.push(step.report);
  }
  return { told, news };
}

describe('reports on the board', () => {
  it('a loss is reported at once; a return ten seconds later, as of the moment it began', () => {
    const { told } = live([5000, 65_250], 90_000);
    expect(told).toEqual([
      { kind: 'lost', atMs: 5000, reason: 'no answer' },
      { kind: 'restored', atMs: 65_250, losses: 1, lostForMs: 60_250 },
    ]);
  });

  it('a flapping board is one counted loss until it stays up', () => {
    const flaps = Array.from({ length: 21 }, (_, at) => 1000 + at * 1500);
    const { told } = live([...flaps, 40_000], 60_000);
    expect(told).toEqual([
      { kind: 'lost', atMs: 1000, reason: 'no answer' },
      { kind: 'restored', atMs: 40_000, losses: 11, lostForMs: 39_000 },
    ]);
  });

  it('each relapse doubles the pause, up to ten minutes; a good hour forgets it', () => {
    let turns: number[] = [];
    for (let atMs = 1000; atMs < 7_200_000; atMs += 45_000) turns = [...turns, atMs, atMs + 1000];
    const bad = live(turns, 7_200_000);
    expect(bad.told.length).toBeLessThan(12);
    expect(bad.news.holdMs).toBeGreaterThan(40_000);
    const good = live([...turns, 11_000_000, 11_001_000], 12_000_000);
    expect(good.told.at(-1)).toMatchObject({ kind: 'restored', atMs: 11_001_000 });
    expect(good.news.holdMs).toBe(boardReportLimits.holdMs);
  });

  it('alternates, is never of the future, ends with the truth, and is bounded, whatever the bus does', () => {
    const gaps = fc.array(fc.integer({ min: 1, max: 120_000 }), { maxLength: 400 });
    fc.assert(
      fc.property(gaps, (pauses) => {
        let sumMs = 0;
        const turns = pauses.map((pause) => (sumMs += pause));
        const endMs = sumMs + 2 * boardReportLimits.holdMostMs;
        const { told, news } = live(turns, endMs);
        told.forEach((one, at) => expect(one.kind).toBe(at % 2 === 0 ? 'lost' : 'restored'));
        expect(news.isReportedLost).toBe(news.isLost);
        expect(news.isLost).toBe(turns.length % 2 === 1);
        const restored = told.filter((one) => one.kind === 'restored');
        for (const [at, one] of restored.entries())
          expect(one.atMs - (restored[at - 1]?.atMs ?? -Infinity)).toBeGreaterThan(boardReportLimits.holdMs);
      }),
      { numRuns: 200 },
    );
  });

  it('a loss that was reported before a restart is reported as ended after it', () => {
    const before = createBoardReport(0, true);
    const back = stepBoardReport(before, { kind: 'answers', atMs: 700, reason: '' }).state;
    expect(stepBoardReport(back, { kind: 'time', atMs: 10_700 }).report).toEqual({
      kind: 'restored',
      atMs: 700,
      losses: 1,
      lostForMs: null,
    });
  });
});

describe('a vehicle on a bus that spoils 30 % of the answers for half an hour', () => {
  it('reports few losses, and its evidence follows every one of them', async () => {
    const rig = await createVehicleRig();
    rig.run(30);
    rig.board.setFaults({ lost: 0.1, garbled: 0.1, cut: 0.1 });
    let losses = 0;
    let wasLost = false;
    for (let second = 0; second < 1800; second += 1) {
      rig.run(1);
      const { isLost } = rig.state().boardReport;
      if (isLost && !wasLost) losses += 1;
      wasLost = isLost;
      rig.within((work) => {
        if (work.state.boardReport.isLost) expect(evidenceOf(work).boardAlive).toBe(false);
      });
    }
    const count = (name: string): number => rig.said().filter((said) => said === name).length;
    expect(losses).toBeGreaterThan(30);
    expect(count('Board_Lost')).toBeGreaterThan(0);
    expect(count('Board_Lost')).toBeLessThanOrEqual(12);
    expect(count('Board_Lost') - count('Board_Restored')).toBeLessThanOrEqual(1);
    rig.board.setFaults({ lost: 0, garbled: 0, cut: 0 });
    rig.run(1300);
    expect(count('Board_Restored')).toBe(count('Board_Lost'));
    const last = rig.told.findLast(({ statusCode }) => statusCode === 4369);
    expect(last?.attributes).toMatchObject({ losses: expect.any(Number), lostS: expect.any(Number) });
  });

  it('a restart of the agent does not leave the loss open', async () => {
    const rig = await createVehicleRig();
    rig.board.setPower(false);
    rig.run(20);
    expect(rig.said()).toContain('Board_Lost');
    rig.kill();
    rig.board.setPower(true);
    rig.start();
    rig.run(20);
    expect(rig.said().filter((said) => said.startsWith('Board_'))).toEqual(['Board_Lost', 'Board_Restored']);
  });
});
