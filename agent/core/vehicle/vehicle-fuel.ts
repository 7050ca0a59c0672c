// The tank as the vehicle watches it: gives the fuel machine what the board and the evidence say, keeps what must survive a
// power-down, and records what it finds. It judges nothing itself.

import { readingOf } from '../board/inputs.ts';
import { claimOf } from '../evidence/evidence.ts';
import { looksStill } from '../evidence/testimony.ts';
import { stepFuel } from '../fuel/fuel.ts';
import { fuelEventDraft } from '../fuel/fuel-events.ts';
import type { Motion } from '../fuel/fuel-types.ts';
import type { Fix } from '../gnss/epochs.ts';
import { log, put, record, sensed, vehicleLimits, type Work } from './vehicle-state.ts';

function motionOf(work: Work): Motion {
  const motion = sensed(work.state, 'motion').value;
  const claim = claimOf(work.state.evidence, work.now.monoMs);
  if (claim.kind === 'moving' || motion === true) return 'moving';
  return looksStill(claim) || motion === false ? 'standing' : 'unknown';
}

/** A tank changes where the vehicle stands, so its place now is that of a change a while ago. */
function fixOf({ state, now }: Work, atMs: number): Fix | null {
  const { fix } = state;
  const isFresh = fix !== null && now.monoMs - fix.atMonoMs <= vehicleLimits.fixAgeMs;
  return isFresh ? { ...fix, atMonoMs: atMs } : null;
}

/**
 * One look at the tank.
 * @param level a fraction as just read, null when it was read and is out of range; `unknown` when only time went by.
 */
export function watchFuel(work: Work, level: number | null | 'unknown'): void {
  const { state, now, config } = work;
  if (config.profile.analogs.fuel === undefined) return;
  const context = {
    ignition: readingOf(state.inputs, 'ignition').reading,
    motion: motionOf(work),
    supplyV: state.analogs.supplyVoltage ?? null,
  };
  const { capacityL } = state.settings.fuel;
  const step = stepFuel(state.fuel, { atMs: now.monoMs, level, context }, state.settings.fuel);
  put(work, { fuel: step.state });
  if (step.events.length === 0) return;
  for (const event of step.events) {
    const draft = fuelEventDraft(event, capacityL);
    log(work, event.kind === 'theft' ? 'warn' : 'info', 'fuel', { finding: event.kind, ...draft.attributes });
    record(work, draft, event.atMs, fixOf(work, event.atMs));
  }
}
