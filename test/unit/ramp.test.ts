// A ramp: its levels, what makes a step bad, and how the knee is named, also when there is none or the generator was too slow.
import { describe, expect, it } from 'vitest';
import {
  failuresOf,
  isBelowRamp,
  kneeOf,
  levelsOf,
  phasesOf,
  type RampStep,
} from '../../simulator/core/scenario/ramp.ts';
import { checkScenario } from '../../simulator/core/scenario/scenario.ts';

const ramp = {
  of: 'devices',
  from: 50,
  to: 800,
  steps: 5,
  stepS: 10,
  settleS: 2,
  thresholds: ['ingest.p99<250ms', 'delivered>=95'],
} as const;

const step = (no: number, change: Partial<RampStep> = {}): RampStep => ({
  no,
  level: 100 * 2 ** no,
  fromS: no * 10,
  toS: no * 10 + 8,
  figures: { 'ingest.p99': 20, 'lag.p99': 3, 'events.rate': 100 * 2 ** no },
  online: 100,
  waiting: 0,
  generatorCore: 0.2,
  failures: [],
  ...change,
});

describe('the levels of a ramp', () => {
  it('stand in equal ratios, and vehicles are whole', () => {
    expect(levelsOf({ ...ramp, thresholds: [...ramp.thresholds] })).toEqual([50, 100, 200, 400, 800]);
  });

  it('of vehicles are the phases of the run', () => {
    const phases = phasesOf({ ...ramp, thresholds: [...ramp.thresholds] }, 800);
    expect(phases?.map(({ atS, share }) => [atS, share])).toEqual([
      [0, 0.0625],
      [10, 0.125],
      [20, 0.25],
      [30, 0.5],
      [40, 1],
    ]);
    expect(phasesOf({ ...ramp, of: 'rate', thresholds: [...ramp.thresholds] }, 800)).toBe(null);
  });

  it('are refused where they do not fit the scenario', () => {
    const faultsOf = (change: object, fleet: object = { devices: 800 }) => {
      const verdict = checkScenario({ title: 'x', durationS: 50, fleet, ramp: { ...ramp, ...change } });
      return verdict.kind === 'ok' ? [] : verdict.faults.map(({ pointer }) => pointer);
    };
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({ to: 40 })).toContain('/ramp/to');
    expect(faultsOf({}, { devices: 700 })).toContain('/ramp/to');
    expect(faultsOf({ of: 'rate', to: 101 })).toContain('/ramp/to');
    expect(faultsOf({ steps: 6 })).toContain('/ramp/steps');
    expect(faultsOf({ settleS: 10 })).toContain('/ramp/settleS');
    expect(faultsOf({ thresholds: ['ingest.p99<5'] })).toContain('/ramp/thresholds/0');
    expect(faultsOf({ thresholds: [] })).toContain('/ramp/thresholds');
  });
});

describe('a step', () => {
  it('is bad when a threshold does not hold or was not measured', () => {
    const of = { ...ramp, thresholds: [...ramp.thresholds] };
    expect(failuresOf(of, { 'ingest.p99': 10, delivered: 100 })).toEqual([]);
    expect(failuresOf(of, { 'ingest.p99': 300, delivered: 100 })).toEqual(['ingest.p99<250ms (300)']);
    expect(failuresOf(of, { delivered: 100 })).toEqual(['ingest.p99<250ms (not measured)']);
  });
});

describe('the knee', () => {
  const bad = { failures: ['ingest.p99<250ms (900)'] };

  it('is between the last good step and the first bad one', () => {
    const knee = kneeOf('rate', [step(0), step(1), step(2, bad)]);
    expect([knee.lastGood?.no, knee.firstBad?.no, knee.isGenerator]).toEqual([1, 2, false]);
    expect(knee.words).toBe(
      'last good step x200 (200 events/s); first bad step x400 (400 events/s): ingest.p99<250ms (900)',
    );
  });

  it.each<readonly [string, readonly RampStep[], string]>([
    ['within', [step(0), step(1, bad)], 'last good step 100 vehicles'],
    [
      'above',
      [step(0), step(1)],
      'none up to the end of the ramp: last good step 200 vehicles (200 events/s)',
    ],
    ['below', [step(0, bad)], 'it lies below the first step, which already failed: 100 vehicles'],
    ['unknown', [], 'the run ended before a step was measured'],
  ])('is told as %s the ramp', (place, steps, words) => {
    const knee = kneeOf('devices', steps);
    expect(knee.place).toBe(place);
    expect(knee.words).toContain(words);
    expect(isBelowRamp({ of: 'devices', steps, knee })).toBe(place === 'below');
  });

  it.each([{ generatorCore: 0.97 }, { figures: { 'lag.p99': 180, 'events.rate': 400 } }])(
    'says when the generator was too slow: %j',
    (late) => {
      const knee = kneeOf('rate', [step(0), step(1, { ...bad, ...late })]);
      expect(knee.isGenerator).toBe(true);
      expect(knee.words).toContain('the system may bear more');
    },
  );
});
