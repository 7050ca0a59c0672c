// The tank in the vehicle: feeds the fuel machine from board and evidence, keeps what must survive a power-down, and
// records its findings. It decides nothing itself.

import { readingOf } from '../board/inputs.ts';
import { claimOf } from '../evidence/evidence-state.ts';
import { looksStill } from '../evidence/testimony.ts';
import { stepFuel } from '../fuel/fuel.ts';
import { fuelEventDraft } from '../fuel/fuel-events.ts';
import type { Motion } from '../fuel/fuel-types.ts';
import type { Fix } from '../gnss/epochs.ts';
import type { LlsReading } from '../lls/lls.ts';
import { llsLevel } from '../lls/lls-config.ts';
import { log, put, record, type StepContext, sensed, vehicleLimits } from './vehicle-state.ts';

function motionOf(context: StepContext): Motion {
  const motion = sensed(context.state, 'motion').value;
  const claim = claimOf(context.state.evidence, context.now.monoMs);
  if (claim.kind === 'moving' || motion === true) return 'moving';
  return looksStill(claim) || motion === false ? 'standing' : 'unknown';
}

/** A tank changes where the vehicle stands, so its place now is that of a change a while ago. */
function fixOf({ state, now }: StepContext, atMs: number): Fix | null {
  const { fix } = state;
  const isFresh = fix !== null && now.monoMs - fix.atMonoMs <= vehicleLimits.fixAgeMs;
  return isFresh ? { ...fix, atMonoMs: atMs } : null;
}

/**
 * One step of the tank.
 * @param level a fraction as just read, null when it was read and is out of range; `unknown` when only time has
 * passed.
 */
export function watchFuel(context: StepContext, level: number | null | 'unknown'): void {
  const { state, now, config } = context;
  if (config.profile.analogs.fuel === undefined && config.fuelSender === undefined) return;
  const surroundings = {
    ignition: readingOf(state.inputs, 'ignition').reading,
    motion: motionOf(context),
    supplyV: state.analogs.supplyVoltage ?? null,
  };
  const { capacityL } = state.settings.fuel;
  const step = stepFuel(state.fuel, { atMs: now.monoMs, level, context: surroundings }, state.settings.fuel);
  put(context, { fuel: step.state });
  if (step.events.length === 0) return;
  for (const event of step.events) {
    const draft = fuelEventDraft(event, capacityL);
    log(context, event.kind === 'theft' ? 'warn' : 'info', 'fuel', {
      finding: event.kind,
      ...draft.attributes,
    });
    record(context, draft, event.atMs, fixOf(context, event.atMs));
  }
}

/** What is known without the board: the level of a digital sender. */
export function fuelOf({ config, state }: StepContext): { readonly fuel?: number | null } {
  return config.fuelSender === undefined ? {} : { fuel: state.analogs.fuel ?? null };
}

/** What the digital sender shows takes the place of the analog signal. A silent one makes the level unknown, never zero. */
export function handleFuelSender(context: StepContext, reading: LlsReading): void {
  const { fuelSender } = context.config;
  const { measure } = reading;
  if (fuelSender === undefined) return;
  put(context, { fuelSender: reading });
  if (measure === 'unknown') return;
  const fuel = measure === null ? null : llsLevel(fuelSender, measure);
  put(context, { analogs: { ...context.state.analogs, fuel } });
  watchFuel(context, fuel);
}
