// The calibration session: amounts in, readings at rest, points kept one by one, and a table at the end.
import { describe, expect, it } from 'vitest';
import { parseFuelAnswers } from '../../agent/core/fuel/fuel-answers.ts';
import {
  type CalibrationInput,
  type CalibrationOutput,
  type CalibrationPlan,
  calibrationRecord,
  parseCalibration,
  startCalibration,
  stepCalibration,
} from '../../agent/core/fuel/fuel-calibration.ts';
import type { TankPoint } from '../../agent/core/fuel/tank-table.ts';

const plan: CalibrationPlan = {
  capacityL: 200,
  mode: 'fill',
  startL: 0,
  valid: [0, 5.2],
  settleMs: 5000,
  place: 'board.overrides.analogs.fuel',
};

function session(of: CalibrationPlan = plan, points: readonly TankPoint[] = []) {
  const started = startCalibration(of, points);
  let { state } = started;
  let atMs = 0;
  const outputs: CalibrationOutput[] = [...started.outputs];
  const feed = (input: CalibrationInput): void => {
    const step = stepCalibration(state, input);
    state = step.state;
    outputs.push(...step.outputs);
  };
  return {
    feed,
    outputs,
    points: () => state.points,
    said: () => outputs.flatMap((output) => (output.kind === 'say' ? [output.text] : [])).join('\n'),
    amount: (litres: number, isAhead = false) => feed({ kind: 'amount', atMs, litres, isAhead }),
    read(seconds: number, measure: (at: number) => number | null): void {
      for (let at = 0; at < seconds; at += 1) {
        atMs += 1000;
        feed({ kind: 'measure', atMs, measure: measure(at) });
      }
    },
  };
}

describe('a calibration', () => {
  it('reads the start, then each amount, keeps every point at once, and ends with the table', () => {
    const calibration = session();
    calibration.read(6, () => 0.5);
    for (const [at, measure] of [1.5, 2.5, 3.5, 4.5].entries()) {
      calibration.amount(50);
      calibration.read(10, () => measure);
      expect(calibration.points()).toHaveLength(at + 2);
    }
    calibration.feed({ kind: 'finish' });
    expect(calibration.outputs.filter(({ kind }) => kind === 'keep')).toHaveLength(5);
    expect(calibration.outputs.at(-1)).toMatchObject({
      kind: 'table',
      table: [
        [0.5, 0],
        [1.5, 0.25],
        [2.5, 0.5],
        [3.5, 0.75],
        [4.5, 1],
      ],
    });
  });

  it('waits while the reading moves, is out of range or silent, and says so', () => {
    const calibration = session();
    calibration.read(40, (at) => 1 + (at % 3) * 0.2);
    expect(calibration.points()).toEqual([]);
    expect(calibration.said()).toContain('still moves by');
    calibration.read(40, () => null);
    expect(calibration.said()).toContain('no valid reading');
    calibration.read(4, () => 1);
    calibration.read(1, () => null);
    calibration.read(4, () => 1);
    expect(calibration.points()).toEqual([]);
    calibration.read(4, () => 1);
    expect(calibration.points()).toEqual([{ litres: 0, measure: 1 }]);
  });

  it('an amount that is on its way is read only after the sender has moved', () => {
    const calibration = session();
    calibration.read(10, () => 1);
    calibration.amount(50, true);
    calibration.read(60, () => 1.02);
    expect(calibration.points()).toHaveLength(1);
    expect(calibration.said()).toContain('has not moved from 1');
    calibration.read(20, () => 2);
    expect(calibration.points().at(-1)).toEqual({ litres: 50, measure: 2 });
  });

  it('drains from a full tank, takes a point back, refuses what cannot be', () => {
    const calibration = session({ ...plan, mode: 'drain', startL: 200 });
    calibration.amount(50);
    expect(calibration.said()).toContain('Wait');
    calibration.read(10, () => 4);
    calibration.amount(50);
    calibration.read(10, () => 3);
    calibration.feed({ kind: 'undo' });
    expect(calibration.points()).toEqual([{ litres: 200, measure: 4 }]);
    for (const litres of [0, -5, Number.NaN, 201]) calibration.amount(litres);
    expect(calibration.said()).toContain('above 0');
    expect(calibration.said()).toContain('only 200 L');
    calibration.feed({ kind: 'undo' });
    calibration.feed({ kind: 'finish' });
    expect(calibration.said()).toContain('at least 3');
    expect(calibration.points()).toHaveLength(1);
  });

  it('goes on from what was kept, and takes nothing damaged or of another tank for it', () => {
    const points = [
      { litres: 0, measure: 1 },
      { litres: 50, measure: 2 },
    ];
    const stored: unknown = JSON.parse(JSON.stringify(calibrationRecord(plan, points)));
    expect(parseCalibration(stored, plan)).toEqual(points);
    const calibration = session(plan, points);
    calibration.amount(50);
    calibration.read(10, () => 3);
    expect(calibration.points().at(-1)).toEqual({ litres: 100, measure: 3 });
    expect(parseCalibration(stored, { ...plan, capacityL: 300 })).toBeNull();
    for (const damaged of [null, 7, {}, { v: 1, capacityL: 200, mode: 'fill', points: [{ litres: 'x' }] }]) {
      expect(parseCalibration(damaged, plan)).toBeNull();
    }
  });

  it('an answers file is understood fully or refused with its faults', () => {
    const answers = { capacityL: 200, mode: 'fill', startL: 0, steps: [100, 100] };
    expect(parseFuelAnswers(JSON.stringify(answers))).toEqual({
      ...answers,
      settleMs: 10_000,
      stepMs: 900_000,
    });
    expect(() => parseFuelAnswers('{')).toThrow('not JSON');
    expect(() => parseFuelAnswers(JSON.stringify({ ...answers, mode: 'guess', steps: [0, 1] }))).toThrow(
      /\/mode.*\/steps\/0|\/steps\/0.*\/mode/s,
    );
    expect(() => parseFuelAnswers(JSON.stringify({ ...answers, extra: 1 }))).toThrow('wrong');
  });
});
