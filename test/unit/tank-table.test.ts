// Tank tables: from litres and readings of odd tanks to a table that the board profile takes, and words for what cannot be.
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { readBoardProfile } from '../../agent/boards.ts';
import { analogValue } from '../../agent/core/board/board-profile.ts';
import { applyOverrides } from '../../agent/core/board/profile-parsing.ts';
import {
  buildTankTable,
  formatTankTable,
  type TankPoint,
  tankLimits,
} from '../../agent/core/fuel/tank-table.ts';

const valid = [0, 5.2] as const;
const tank = (capacityL: number) => ({ capacityL, valid });

/** A lying cylinder of `capacityL`: what its float reads in volts at so many litres (bisection on the segment's area). */
function cylinderVolts(litres: number, capacityL: number): number {
  let [low, high] = [0, 1];
  for (let round = 0; round < 50; round += 1) {
    const height = (low + high) / 2;
    const angle = Math.acos(1 - 2 * height);
    const share = (angle - Math.sin(angle) * Math.cos(angle)) / Math.PI;
    if (share < litres / capacityL) low = height;
    else high = height;
  }
  return 0.5 + 4 * low;
}

const tableOf = (points: readonly TankPoint[], capacityL: number) => {
  const verdict = buildTankTable(points, tank(capacityL));
  if (verdict.kind === 'refused') throw new Error(verdict.reasons.join(' '));
  return verdict;
};

describe('a tank table', () => {
  it('of a lying cylinder in steps of 20 L reads back within 1 % of the tank at every litre', () => {
    const points = Array.from({ length: 21 }, (_, at) => ({
      litres: at * 20,
      measure: cylinderVolts(at * 20, 400),
    }));
    const { table, warnings } = tableOf(points, 400);
    const signal = { poll: 'a', address: 0, scale: 1, offset: 0, valid: [0, 5.2] as [number, number] };
    for (let litres = 0; litres <= 400; litres += 1) {
      const read = analogValue(
        { ...signal, table: table.map(([measure, part]) => [measure, part]) },
        cylinderVolts(litres, 400),
      );
      expect(Math.abs((read ?? Number.NaN) - litres / 400)).toBeLessThan(0.01);
    }
    expect(warnings).toEqual([]);
  });

  it('of a sender that falls as the tank fills', () => {
    const points = [0, 100, 200, 300].map((litres) => ({ litres, measure: 4 - litres / 100 }));
    expect(tableOf(points, 300).table).toEqual([
      [1, 1],
      [2, 0.6667],
      [3, 0.3333],
      [4, 0],
    ]);
  });

  it('pools small steps back, keeps the ends, and warns of litres that the float does not see', () => {
    const points = [
      { litres: 0, measure: 0.5 },
      { litres: 40, measure: 0.5 },
      { litres: 80, measure: 1.5 },
      { litres: 120, measure: 1.46 },
      { litres: 160, measure: 3 },
      { litres: 180, measure: 4 },
    ];
    const { table, warnings } = tableOf(points, 200);
    expect(table[0]).toEqual([0.5, 0]);
    expect(table).toContainEqual([1.48, 0.5]);
    expect(warnings).toEqual([
      'Between 0 L and 40 L the sender does not move: fuel taken there is not detected.',
      'Between 80 L and 120 L the sender does not move: fuel taken there is not detected.',
      'Above 180 L the level stays as at 180 L.',
    ]);
  });

  it.each([
    [
      'too few amounts',
      [
        [0, 1],
        [10, 2],
      ],
      'at least 3',
    ],
    [
      'a sender that does not move',
      [
        [0, 1],
        [50, 1.01],
        [100, 1.02],
      ],
      'moves by 0.02 only',
    ],
    [
      'a step back',
      [
        [0, 1],
        [30, 3],
        [60, 2],
        [100, 4],
      ],
      'goes back by 33 %',
    ],
    [
      'more than the tank holds',
      [
        [0, 1],
        [50, 2],
        [120, 3],
      ],
      'not between 0 and the capacity',
    ],
    [
      'a reading outside of the range',
      [
        [0, 1],
        [50, 2],
        [100, 6],
      ],
      'outside of 0 to 5.2',
    ],
    [
      'numbers that are none',
      [
        [0, 1],
        [50, Number.NaN],
        [100, 3],
      ],
      'outside of 0 to 5.2',
    ],
  ] as const)('is refused in words for %s', (_, pairs, words) => {
    const verdict = buildTankTable(
      pairs.map(([litres, measure]) => ({ litres, measure })),
      tank(100),
    );
    expect(verdict).toMatchObject({ kind: 'refused' });
    expect(verdict.kind === 'refused' ? verdict.reasons.join(' ') : '').toContain(words);
    expect(buildTankTable([], tank(0)).kind).toBe('refused');
  });

  it('as lines of agent.toml is what the board profile takes', async () => {
    const points = [0, 50, 100, 150, 200].map((litres) => ({ litres, measure: 0.5 + litres / 50 }));
    const { table } = tableOf(points, 200);
    const file = parse(formatTankTable(table, { capacityL: 200, place: 'board.overrides.analogs.fuel' })) as {
      board: { overrides: Parameters<typeof applyOverrides>[1] };
      fuel: { capacityL: number };
    };
    const verdict = applyOverrides(await readBoardProfile('generic'), file.board.overrides);
    expect(verdict.kind === 'ok' && verdict.profile.analogs.fuel?.table).toEqual(table);
    expect(file.fuel).toEqual({ capacityL: 200 });
  });

  it('whatever the points, is refused or strictly monotone, within 0 to 1, and at most 32 long', () => {
    const point = fc.record({
      litres: fc.double({ min: -10, max: 320, noNaN: true }),
      measure: fc.double({ min: -0.5, max: 6, noNaN: true }),
    });
    const honest = fc
      .array(fc.double({ min: 0, max: 300, noNaN: true }), { minLength: 3, maxLength: 120 })
      .map((litres) => litres.map((one) => ({ litres: one, measure: 0.4 + cylinderVolts(one, 300) / 1.2 })));
    fc.assert(
      fc.property(fc.oneof(fc.array(point, { maxLength: 60 }), honest), (points) => {
        const verdict = buildTankTable(points, tank(300));
        if (verdict.kind === 'refused') {
          expect(verdict.reasons.length).toBeGreaterThan(0);
          return;
        }
        const { table } = verdict;
        expect(table.length).toBeGreaterThanOrEqual(2);
        expect(table.length).toBeLessThanOrEqual(tankLimits.points);
        const rises = (table.at(-1)?.[1] ?? 0) > (table[0]?.[1] ?? 0);
        for (const [at, [measure, fraction]] of table.entries()) {
          expect(fraction).toBeGreaterThanOrEqual(0);
          expect(fraction).toBeLessThanOrEqual(1);
          const before = table[at - 1];
          if (before === undefined) continue;
          expect(measure).toBeGreaterThan(before[0]);
          expect(rises ? fraction >= before[1] : fraction <= before[1]).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });
});
