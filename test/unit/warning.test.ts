// The warning output: it sounds when a cut wants it, counts only while it was read back, and is silent otherwise.
import { describe, expect, it } from 'vitest';
import {
  chirp,
  createWarning,
  recordWarningOrder,
  recordWarningRead,
  stepWarning,
  type WarningState,
  warningEvidence,
} from '../../agent/core/protection/warning.ts';
import { statusText } from '../../src/core/events/status-codes.ts';

/** A buzzer that follows or not, looked at twice a second. */
function createRig(start: { readonly on: boolean }) {
  let state: WarningState = recordWarningRead(createWarning(), start.on, 0);
  const rig = {
    follows: true,
    on: start.on,
    orders: [] as boolean[],
    told: [] as string[],
    evidence: (nowMs: number) => warningEvidence(state, nowMs),
    run(fromMs: number, toMs: number, wants: boolean) {
      for (let ms = fromMs; ms < toMs; ms += 500) {
        if (ms % 5000 === 0) state = recordWarningRead(state, rig.on, ms);
        const step = stepWarning(state, wants, ms);
        state = step.state;
        if (step.draft !== null) rig.told.push(statusText(step.draft.statusCode));
        if (step.order === null) continue;
        rig.orders.push(step.order);
        if (rig.follows) rig.on = step.order;
        state = recordWarningOrder(state, rig.on, ms);
      }
      return rig;
    },
    chirp(ms: number, nowMs: number) {
      state = chirp(state, ms, nowMs);
      return rig;
    },
  };
  return rig;
}

describe('the warning output', () => {
  it('is not written while it is silent and not demanded', () => {
    expect(createRig({ on: false }).run(0, 60_000, false).orders).toEqual([]);
  });

  it('is switched off at the start', () => {
    expect(createRig({ on: true }).run(0, 1000, false).orders).toEqual([false]);
  });

  it('sounds as long as it is wanted, counts from its read-back, and falls silent after', () => {
    const rig = createRig({ on: false }).run(0, 40_000, true);
    expect(rig.orders).toEqual([true]);
    expect(rig.evidence(39_500)).toEqual({ soundsForMs: 39_500, hasFault: false });
    rig.run(40_000, 42_000, false);
    expect(rig.orders).toEqual([true, false]);
    expect(rig.evidence(42_000).soundsForMs).toBeNull();
  });

  it('restarts its time after every break', () => {
    const rig = createRig({ on: false })
      .run(0, 20_000, true)
      .run(20_000, 20_500, false)
      .run(20_500, 40_000, true);
    expect(rig.evidence(40_000).soundsForMs).toBeLessThanOrEqual(19_500);
    rig.on = false;
    rig.run(40_000, 40_500, true);
    expect(rig.evidence(40_500).soundsForMs).toBeLessThanOrEqual(500);
  });

  it('proves nothing by an old read-back', () => {
    const rig = createRig({ on: false }).run(0, 10_000, true);
    expect(rig.evidence(60_000).soundsForMs).toBeNull();
  });

  it('that does not follow is a fault, reported once, and tried again', () => {
    const rig = createRig({ on: false });
    rig.follows = false;
    rig.run(0, 60_000, true);
    expect(rig.evidence(60_000).hasFault).toBe(true);
    expect(rig.told).toEqual(['Relay_Fault']);
    rig.follows = true;
    rig.run(60_000, 80_000, true);
    expect(rig.told).toEqual(['Relay_Fault', 'Relay_Restored']);
    expect(rig.evidence(80_000).soundsForMs).toBeGreaterThan(0);
  });

  it('answers a person with a short sound that counts for no cut', () => {
    const rig = createRig({ on: false }).chirp(3000, 0).run(0, 2500, false);
    expect(rig.on).toBe(true);
    expect(rig.evidence(2500).soundsForMs).toBeNull();
    expect(rig.run(2500, 6000, false).on).toBe(false);
  });
});
