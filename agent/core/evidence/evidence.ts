// Joins all witnesses of standstill and of an engine at rest, step by step: their activity, whether it counts, their credit, and the resulting drive
// state (`drive-state.ts`). It never decides about a relay; absence is never standstill.
import type { Fix } from '../gnss/epochs.ts';
import {
  type Contact,
  contactLimits,
  endChatter,
  endCommonSuspension,
  isCommonLoss,
  isLostWithAnalog,
  recordReading,
  type Sensed,
  type Span,
  suspendByBoard,
  suspendByCommon,
  suspendByMovement,
} from './contact.ts';
import { type Activities, type Activity, creditState, hasOpposedAtRest, stepCredits } from './credit.ts';
import { driveAfter, parkedAfter, recordAfter } from './drive-state.ts';
import {
  claimOf,
  type EvidenceState,
  evidenceLimits,
  isBlind,
  isStill,
  type Level,
  type Seen,
  type StepTime,
} from './evidence-state.ts';
import type { GnssClaim } from './gnss-claim.ts';
import { gnssLimits, recordGnssFix, recordGnssVoid } from './gnss-standing.ts';
import { supplyAfter, supplyLimits, voltageActivity } from './supply-voltage.ts';

type Draft = { -readonly [Key in keyof EvidenceState]: EvidenceState[Key] };

/** Copy for the changes of one step. A literal, because a spread of so many members takes several times as long. */
function copyOf(state: EvidenceState): Draft {
  return {
    fitted: state.fitted,
    causes: state.causes,
    hdopMost: state.hdopMost,
    gnss: state.gnss,
    ignition: state.ignition,
    motion: state.motion,
    rpm: state.rpm,
    voltage: state.voltage,
    supply: state.supply,
    restedMs: state.restedMs,
    blindSinceMs: state.blindSinceMs,
    resumedMs: state.resumedMs,
    drivenSinceMs: state.drivenSinceMs,
    analogLostMs: state.analogLostMs,
    isAnalogLost: state.isAnalogLost,
    fellTogetherMs: state.fellTogetherMs,
    credit: state.credit,
    drive: state.drive,
    record: state.record,
    seen: state.seen,
    isStale: state.isStale,
  };
}

/** Records one fix that was checked for plausibility. Follow it with `stepEvidence`. */
export function recordFix(state: EvidenceState, fix: Fix, now: StepTime): EvidenceState {
  const { hdopMost } = state;
  const next = copyOf(state);
  next.gnss = recordGnssFix(state.gnss, fix, { atMs: now.atMs, utcMs: now.utcMs, hdopMost });
  next.isStale = true;
  return next;
}

/** Records an epoch without a fix. `estimatedKmh`: speed in its report without a measurement; null: none. */
export function recordVoid(
  state: EvidenceState,
  epoch: { readonly atMonoMs: number; readonly estimatedKmh: number | null },
): EvidenceState {
  const next = copyOf(state);
  next.gnss = recordGnssVoid(state.gnss, epoch.atMonoMs, epoch.estimatedKmh);
  next.isStale = true;
  return next;
}

function rpmActivity(rpm: number | null): Activity {
  if (rpm === null) return null;
  if (rpm >= evidenceLimits.turningRpm) return 'active';
  return rpm < evidenceLimits.restingRpm ? 'rest' : null;
}

function levelAfter(before: Level, activity: Activity, nowMs: number): Level {
  return before.activity === activity ? before : { activity, sinceMs: nowMs };
}

function activitiesOf(state: EvidenceState, claim: GnssClaim, nowMs: number): Activities {
  const contact = ({ sensed }: Contact): Activity =>
    sensed.value === null ? null : sensed.value ? 'active' : 'rest';
  const { motion, ignition, rpm, voltage } = state;
  const pulsed = motion.sensed.value !== null && nowMs - motion.activeMs <= evidenceLimits.pulseMs;
  const isDriving = claim.kind === 'moving' && claim.speedKmh >= gnssLimits.driveKmh;
  const gnss = isDriving ? 'active' : claim.kind === 'still' ? 'rest' : null;
  return {
    gnss,
    ignition: contact(ignition),
    motion: pulsed ? 'active' : contact(motion),
    rpm: rpm.activity,
    voltage: voltage.activity,
  };
}

const contacts = ['ignition', 'motion'] as const;

const isMeasured = (value: number | null, least: number): boolean => value !== null && value >= least;

/** True when a measured value is missing now. An engine that stops reads 0 1/min and a battery never reads 0 V, so neither explains it. */
function losesAnalog(before: Seen, seen: Seen): boolean {
  const { measuredV } = supplyLimits;
  return (
    (isMeasured(before.rpm, 0) && !isMeasured(seen.rpm, 0)) ||
    (isMeasured(before.supplyV, measuredV) && !isMeasured(seen.supplyV, measuredV))
  );
}

/** True when every fitted analog witness is measured. */
function hasAnalogs(fitted: EvidenceState['fitted'], { rpm, supplyV }: Seen): boolean {
  const hasRpm = !fitted.includes('rpm') || isMeasured(rpm, 0);
  return hasRpm && (!fitted.includes('voltage') || isMeasured(supplyV, supplyLimits.measuredV));
}

/** Kind of loss shown by inputs that have just fallen together, or together with an analog value; null: none. */
function commonLoss(before: EvidenceState, state: EvidenceState): 'supply' | 'plug' | null {
  const { ignition, motion, analogLostMs } = state;
  const fell = ignition.fellMs !== before.ignition.fellMs || motion.fellMs !== before.motion.fellMs;
  if (fell && isCommonLoss(ignition, motion)) return 'plug';
  if (!fell && analogLostMs === before.analogLostMs) return null;
  const isWithAnalog = isLostWithAnalog(ignition, analogLostMs) || isLostWithAnalog(motion, analogLostMs);
  return isWithAnalog ? 'supply' : null;
}

/** Monotonic time at which counted inputs fell together, ms, with no analog value lost beside them; null: no such fall. */
function fellTogetherAt(
  before: EvidenceState,
  { ignition, motion, analogLostMs }: EvidenceState,
): number | null {
  const counted = before.ignition.suspension === null && before.motion.suspension === null;
  const isWithAnalog = isLostWithAnalog(ignition, analogLostMs) || isLostWithAnalog(motion, analogLostMs);
  return counted && !isWithAnalog ? Math.min(ignition.fellMs, motion.fellMs) : null;
}

/**
 * True when all fixes since the inputs fell together show rest: the driver turned the key as the vehicle stopped, and no supply was lost on the road.
 */
function stoodAtFall({ fellTogetherMs, ignition, motion, gnss }: EvidenceState): boolean {
  if (fellTogetherMs === null || Math.min(ignition.fellMs, motion.fellMs) !== fellTogetherMs) return false;
  return gnss.restSinceMs !== null && gnss.restSinceMs - fellTogetherMs <= contactLimits.restShownMs;
}

const isSameReading = (a: Sensed, b: Sensed): boolean => a.value === b.value && a.sinceMs === b.sinceMs;

/** True when `stepEvidence` is due: an input changed, a fix arrived, or half a second has passed. */
export function isStepDue(state: EvidenceState, seen: Seen, nowMs: number): boolean {
  const { ignition, motion, rpm, supplyV } = state.seen;
  if (state.isStale || nowMs - state.credit.atMs >= evidenceLimits.lookMs) return true;
  if (!isSameReading(seen.ignition, ignition) || !isSameReading(seen.motion, motion)) return true;
  if (seen.answering.length !== state.seen.answering.length) return true;
  return seen.rpm !== rpm || seen.supplyV !== supplyV;
}

/** A receiver that loses its position although the vehicle was parked under the sky may be jammed, so the absence counts as suspect. */
function blindAfter(
  state: EvidenceState,
  claim: GnssClaim,
  atMs: number,
): Pick<EvidenceState, 'gnss' | 'blindSinceMs'> {
  const { gnss } = state;
  if (!isBlind(claim)) return { gnss, blindSinceMs: null };
  const blindSinceMs = state.blindSinceMs ?? atMs;
  const isLost =
    atMs - blindSinceMs >= gnssLimits.gapMs && state.drive.state === 'standing' && state.drive.by === 'gnss';
  const isNew = isLost && (gnss.suspectMs === null || gnss.suspectMs < blindSinceMs);
  return { gnss: isNew ? { ...gnss, suspectMs: atMs } : gnss, blindSinceMs };
}

/** True when the ignition has not been on since the receiver last showed rest. */
function isTowed({ ignition, restedMs }: EvidenceState): boolean {
  return ignition.activeMs < restedMs;
}

/** True when one dip of the supply can explain both spans. */
function isOneDip(a: Span, b: Span): boolean {
  const { dipMs } = evidenceLimits;
  return b.fromMs <= a.toMs + dipMs && b.toMs >= a.fromMs - dipMs;
}

/**
 * Monotonic end of the last interruption that a supply dip may have caused, ms. Such a dip restarts the receiver and kills the contacts. Two missing
 * fixes show it near the fall of a proven ignition; an unproven ignition need not have shown a fall. One missing fix is enough beside a silent board.
 * A live ignition contact shows the loss of its supply by itself.
 */
function resumedAfter({ gnss, ignition, resumedMs, credit }: EvidenceState): number {
  if (ignition.isLive) return resumedMs;
  const { gap, pause } = gnss.stream;
  const { fellMs, silence } = ignition;
  const isProven = creditState(credit.credits.ignition) === 'proven';
  let latestMs = resumedMs;
  if (pause !== null && (!isProven || isOneDip(pause, { fromMs: fellMs, toMs: fellMs })))
    latestMs = Math.max(latestMs, pause.toMs);
  if (gap !== null && silence !== null && isOneDip(gap, silence)) latestMs = Math.max(latestMs, gap.toMs);
  return latestMs;
}

/** True when the receiver has repeated one position since before the engine was switched on, and the engine has run for `pinnedMs`. */
function isPinned({ gnss, ignition }: EvidenceState, claim: GnssClaim, atMs: number): boolean {
  const { pinnedMs } = evidenceLimits;
  const isOn = ignition.sensed.value === true && atMs - ignition.roseMs >= pinnedMs;
  return isOn && !isBlind(claim) && gnss.last !== null && gnss.wanderedMs < ignition.roseMs;
}

/**
 * One evaluation of all witnesses. Call it with each change of an input, each fix, and at least every two seconds. The order matters:
 * 1. Readings first. Voltage needs the new supply state; everything below compares times at which inputs rose and fell.
 * 2. Then `resumedMs`, which depends on these times, and then the claim, which depends on both. Rest from before a dip must not count, nor a fix that
 *    has not varied since a key that is turned in this very step.
 * 3. Analog loss before common loss: an input and an analog value that vanish together are one lost supply. Only a receiver that was proven before
 *    this step prevents a common loss.
 * 4. Ends of suspensions before the suspension by a dead board, so that none of them releases an input of that board.
 * 5. All suspensions before credit: an input that is suspended in this step earns none in it. Movement is judged by the disagreements of the step
 *    before.
 * 6. Credit before drive state, which believes proven inputs only, and before `drivenSinceMs`, which the next step compares.
 * 7. The record last: it stores the credit and the drive state of this step.
 */
export function stepEvidence(before: EvidenceState, seen: Seen, now: StepTime): EvidenceState {
  const { atMs, utcMs } = now;
  const supply = supplyAfter(before.supply, seen, atMs);
  const state = copyOf(before);
  state.seen = seen;
  state.isStale = false;
  state.ignition = recordReading(before.ignition, seen.ignition, { atMs, countsFlips: true });
  state.motion = recordReading(before.motion, seen.motion, { atMs, countsFlips: false });
  state.rpm = levelAfter(before.rpm, rpmActivity(seen.rpm), atMs);
  state.voltage = levelAfter(before.voltage, voltageActivity(seen, supply, atMs), atMs);
  state.supply = supply;
  state.resumedMs = resumedAfter(state);
  const claim = claimOf(state, atMs);
  const blind = blindAfter(state, claim, atMs);
  state.gnss = blind.gnss;
  state.blindSinceMs = blind.blindSinceMs;
  if (claim.kind === 'still') state.restedMs = atMs;
  const stands = isStill(claim) && creditState(state.credit.credits.gnss) === 'proven';
  if (losesAnalog(before.seen, seen)) {
    state.analogLostMs = atMs;
    state.isAnalogLost = true;
  } else if (state.isAnalogLost && hasAnalogs(state.fitted, seen)) state.isAnalogLost = false;
  const lost = stands ? null : commonLoss(before, state);
  if (lost !== null) {
    state.fellTogetherMs = fellTogetherAt(before, state);
    state.ignition = suspendByCommon(state.ignition, lost);
    state.motion = suspendByCommon(state.motion, lost);
  } else if (stands && stoodAtFall(state)) {
    state.fellTogetherMs = null;
    state.ignition = endCommonSuspension(state.ignition);
    state.motion = endCommonSuspension(state.motion);
  }
  if (stands) state.ignition = endChatter(state.ignition, state.gnss.restSinceMs ?? atMs, atMs);
  // Inputs of a board without supply are dead, whatever they read.
  if (state.isAnalogLost && atMs - state.analogLostMs >= evidenceLimits.analogLostMs) {
    state.ignition = suspendByBoard(state.ignition);
    state.motion = suspendByBoard(state.motion);
  }
  const activities = activitiesOf(state, claim, atMs);
  const towed = isTowed(state);
  const isDriven = activities.gnss === 'active' && activities.ignition === 'rest';
  if (isDriven && hasOpposedAtRest(state.credit, 'ignition', evidenceLimits.drivenMs)) {
    const { ignition, motion, drivenSinceMs } = state;
    if (towed || ignition.activeMs < drivenSinceMs) state.ignition = suspendByMovement(ignition);
    // One plug may carry the wires of both.
    if (motion.activeMs < drivenSinceMs) state.motion = suspendByMovement(motion);
  }
  const suspended = contacts.filter((name) => state[name].suspension !== null);
  state.credit = stepCredits(state.credit, activities, {
    atMs,
    utcMs,
    suspended,
    isTowed: towed,
    isPinned: isPinned(state, claim, atMs),
  });
  const { gnss } = state.credit.since;
  if (gnss.activity === 'active' && atMs - gnss.atMs >= evidenceLimits.drivenMs)
    state.drivenSinceMs = gnss.atMs;
  state.drive = driveAfter(state, claim, now);
  state.record = recordAfter(state, parkedAfter(state, claim, now), utcMs);
  return state;
}
