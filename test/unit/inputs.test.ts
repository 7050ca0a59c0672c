import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createInputs, type InputChange, readingOf, stepInputs } from '../../agent/core/board/inputs.ts';

type Name = 'ignition' | 'panic' | 'cabinDoor';
const rules = {
  ignition: { invert: false, debounceMs: 300, staleMs: 2000, immediate: false },
  panic: { invert: false, debounceMs: 60, staleMs: 2000, immediate: true },
  cabinDoor: { invert: true, debounceMs: 200, staleMs: 2000, immediate: false },
};

function rig() {
  let state = createInputs<Name>(rules, 0);
  const changes: InputChange<Name>[] = [];
  return {
    changes,
    state: () => state,
    of: (signal: Name) => readingOf(state, signal).reading,
    sample: (atMs: number, values: Partial<Record<Name, boolean | null>>) => {
      const stepped = stepInputs(state, { kind: 'sample', atMs, values });
      state = stepped.state;
      changes.push(...stepped.changes);
    },
    time: (atMs: number) => {
      const stepped = stepInputs(state, { kind: 'time', atMs });
      state = stepped.state;
      changes.push(...stepped.changes);
    },
  };
}

describe('an input', () => {
  it('is unknown until it was seen steady for its debounce time, and began at the first such sample', () => {
    const { sample, of, changes } = rig();
    for (let atMs = 100; atMs < 400; atMs += 40) sample(atMs, { ignition: true });
    expect(of('ignition')).toBe('unknown');
    sample(420, { ignition: true });
    expect(changes).toEqual([{ signal: 'ignition', reading: 'on', sinceMs: 100 }]);
  });

  it('ignores a bounce', () => {
    const { sample, of } = rig();
    for (let atMs = 0; atMs <= 400; atMs += 40) sample(atMs, { ignition: true });
    sample(440, { ignition: false });
    sample(480, { ignition: true });
    for (let atMs = 520; atMs < 800; atMs += 40) sample(atMs, { ignition: atMs % 80 !== 0 });
    expect(of('ignition')).toBe('on');
  });

  it('that is wired the other way round is turned', () => {
    const { sample, of } = rig();
    for (let atMs = 0; atMs <= 400; atMs += 40) sample(atMs, { cabinDoor: false });
    expect(of('cabinDoor')).toBe('on');
  });

  it('panic is on with the first sample that shows it, and off only when the release is steady', () => {
    const { sample, changes } = rig();
    for (let atMs = 0; atMs <= 120; atMs += 40) sample(atMs, { panic: false });
    sample(160, { panic: true });
    sample(200, { panic: false });
    sample(240, { panic: true });
    sample(280, { panic: false });
    sample(320, { panic: false });
    sample(360, { panic: false });
    expect(changes.map((change) => [change.reading, change.sinceMs])).toEqual([
      ['off', 0],
      ['on', 160],
      ['off', 280],
    ]);
  });

  it('is unknown once its stale time has passed without a good sample', () => {
    const { sample, time, of, changes, state } = rig();
    for (let atMs = 0; atMs <= 400; atMs += 40) sample(atMs, { ignition: true });
    expect(state().wakeAtMs).toBe(2400);
    sample(1000, { ignition: null });
    time(2399);
    expect(of('ignition')).toBe('on');
    time(2600);
    expect(changes.at(-1)).toEqual({ signal: 'ignition', reading: 'unknown', sinceMs: 2400 });
    expect(state().wakeAtMs).toBeNull();
    sample(9000, { ignition: true });
    expect(of('ignition')).toBe('unknown');
  });

  it('is unknown between two runs of samples even without a wake-up', () => {
    const { sample, of } = rig();
    for (let atMs = 0; atMs <= 400; atMs += 40) sample(atMs, { ignition: true });
    sample(5000, { ignition: true });
    expect(of('ignition')).toBe('unknown');
  });

  it('never shows a state that its last samples did not show, in any sequence', () => {
    const step = fc.record({
      afterMs: fc.integer({ min: 1, max: 3000 }),
      value: fc.constantFrom(true, false, null),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { sample, of } = rig();
        let atMs = 0;
        let last: boolean | null = null;
        let lastMs = -Infinity;
        for (const { afterMs, value } of steps) {
          atMs += afterMs;
          sample(atMs, { panic: value, ignition: value });
          if (value !== null) [last, lastMs] = [value, atMs];
          if (atMs - lastMs >= 2000) expect(of('ignition')).toBe('unknown');
          if (value === true) expect(of('panic')).toBe('on');
          if (last === null) expect(of('ignition')).toBe('unknown');
        }
      }),
    );
  });
});
