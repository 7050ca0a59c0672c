// Detection of a suspended or starved agent by timers that fire late (event loop lag), while a cut waits.
import { describe, expect, it } from 'vitest';
import { type HoldUpWatch, holdUpLimits, holdUpWatchAfter } from '../../agent/core/protection/hold-up.ts';
import { interlockLimits } from '../../agent/core/protection/interlock-rules.ts';

/** Steps that come so late after each other's time, ms; when each hold-up ended. */
function watchOf(lates: readonly number[]) {
  let watch: HoldUpWatch = holdUpWatchAfter(null, 0);
  const ended: number[] = [];
  for (const lateMs of lates) {
    const nowMs = watch.dueMs + lateMs;
    watch = holdUpWatchAfter(watch, nowMs);
    if (watch.endedMs === nowMs) ended.push(nowMs);
  }
  return ended;
}

const times = (count: number, lateMs: number): readonly number[] =>
  Array.from({ length: count }, () => lateMs);

describe('a hold-up', () => {
  it('is a step that is 100 ms late, and ends with that step', () => {
    expect(watchOf([0, 100])).toEqual([]);
    expect(watchOf([0, 101, 0])).toEqual([201]);
  });

  it('is not detected while the steps of a busy machine are late by a tenth of a second in ten', () => {
    expect(watchOf(times(1000, 10))).toEqual([]);
    expect(watchOf([...times(30, 5), 70, ...times(30, 5), 70, ...times(30, 5)])).toEqual([]);
  });

  it('is also detected as a chain of delays that are each too short alone', () => {
    const ended = watchOf(times(40, 92));
    expect(ended.length).toBeGreaterThan(18);
    const apart = ended.slice(1).map((atMs, index) => atMs - (ended[index] ?? 0));
    // A fix takes longer than this from its first byte to the relay.
    expect(Math.max(...apart)).toBeLessThanOrEqual(284);
    expect(watchOf(times(100, 40)).length).toBeGreaterThan(10);
  });

  it('is followed by another one, unless that one is too short to delay the reading of bytes', () => {
    expect(watchOf([200, 80])).toEqual([250, 380]);
    expect(watchOf([200, interlockLimits.unreadMs - holdUpLimits.everyMs])).toHaveLength(2);
  });

  it('is not detected between two steps that time demands', () => {
    const watch = holdUpWatchAfter(null, 1000);
    expect(holdUpWatchAfter(watch, 1049)).toBe(watch);
  });
});
