// Whether the vehicle is at rest with nothing to do: for what restarts or suspends the unit. It must never count a vehicle as parked that may be
// driven. Nothing here moves a relay.
import { featureNames } from '../../../src/core/events/event.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import { type Evidence, looksStill } from '../evidence/testimony.ts';
import { evidenceOf, type StepContext } from './vehicle-state.ts';

/** Ignition off for so long where there is no view of the sky, and no evidence of movement. */
const blindMs = 600_000;

/** Why the vehicle does not count as parked. Unknown is never off, and never standing. */
function motionObjection(evidence: Evidence, parkedMs: number): string | null {
  const { nowMs, ignition, witnesses, gnss, suspectMs } = evidence;
  const offMs = ignition.value === false ? nowMs - ignition.sinceMs : null;
  if (offMs === null) return 'the ignition is not known to be off';
  if (offMs < parkedMs) return 'the ignition was turned off a moment ago';
  if (witnesses.motion.claim === 'active') return 'the motion sensor reports movement';
  if (gnss.kind === 'moving') return 'the vehicle moves';
  if (looksStill(gnss)) return null;
  if (suspectMs !== null && nowMs - suspectMs < gnssLimits.suspectMs) return 'the position is doubtful';
  return offMs < Math.max(parkedMs, blindMs) ? 'standstill is not known' : null;
}

/** Why the vehicle is not at rest with nothing to do. @param parkedMs how long the ignition must be off. */
export function restObjectionOf(context: StepContext, parkedMs: number): string | null {
  const { state } = context;
  const evidence = evidenceOf(context);
  const { record, work } = state.commands;
  if (state.isStopping) return 'the agent is stopping';
  if (evidence.panic.value === true) return 'the panic button is pressed';
  const isBusy = featureNames.some(
    (name) =>
      record.active[name] !== undefined || record.next[name] !== undefined || work[name] !== undefined,
  );
  if (isBusy) return 'a command has not ended';
  if (state.config.write !== null || state.config.trial !== null) return 'a configuration is being tried';
  return motionObjection(evidence, parkedMs);
}
