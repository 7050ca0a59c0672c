// Drive state of the vehicle (driving, standing or unknown), its parking place, and the part of both that the disk keeps.
import type { Point } from '../../../src/core/geo/geo.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { sharedCauses } from './common-causes.ts';
import { restingForMs } from './contact.ts';
import { type EvidenceRecord, type MotionState, roundedPlace } from './evidence-record.ts';
import {
  causesNow,
  type EvidenceState,
  evidenceLimits,
  isAt,
  isCounted,
  isStill,
  type StepTime,
} from './evidence-state.ts';
import { type GnssClaim, wasSuspectAt } from './gnss-claim.ts';
import { gnssLimits } from './gnss-standing.ts';

/** Witness that shows a running engine now; null: none. */
function engineBy(state: EvidenceState): WitnessName | null {
  if (state.ignition.sensed.value === true) return 'ignition';
  if (state.rpm.activity === 'active') return 'rpm';
  return state.voltage.activity === 'active' ? 'voltage' : null;
}

function isMotionActive({ motion }: EvidenceState, nowMs: number): boolean {
  const { pulseMs, movedMs } = evidenceLimits;
  return nowMs - motion.activeMs <= pulseMs && motion.activeMs - motion.roseMs >= movedMs;
}

/** True when two proven inputs, which no single fault sets to 0, show standstill without a position. */
function isStillWithoutFix(state: EvidenceState, now: StepTime): boolean {
  const { offNoFixMs, quietMs } = evidenceLimits;
  if (sharedCauses(causesNow(state, 'ignition'), causesNow(state, 'motion')).length > 0) return false;
  const areCounted = isCounted(state, 'ignition') && isCounted(state, 'motion');
  const offMs = restingForMs(state.ignition, now.atMs) ?? 0;
  const stillMs = restingForMs(state.motion, now.atMs) ?? 0;
  return areCounted && offMs >= offNoFixMs && stillMs >= quietMs && !wasSuspectAt(state.gnss, now.atMs);
}

/** Needs three moving fixes in a row, because one alone may be noise. */
const isMoving = (claim: GnssClaim): boolean => claim.kind === 'moving' && claim.fixes >= 3;

export function driveAfter(state: EvidenceState, claim: GnssClaim, now: StepTime): EvidenceState['drive'] {
  const { drive } = state;
  const to = (next: MotionState, by: WitnessName | null): EvidenceState['drive'] =>
    drive.state === next && drive.by === by
      ? drive
      : { state: next, by, sinceMs: drive.state === next ? drive.sinceMs : now.atMs };
  if (isMoving(claim)) return to('driving', 'gnss');
  if (isStill(claim)) return to('standing', 'gnss');
  if (isMotionActive(state, now.atMs))
    return to(drive.state === 'standing' ? 'unknown' : drive.state, 'motion');
  const engine = engineBy(state);
  // Ignition on without evidence of movement or standstill leaves the state unknown.
  if (engine !== null)
    return drive.state === 'standing' || claim.kind === 'unknown' ? to('unknown', engine) : drive;
  if (claim.kind === 'unknown' && isStillWithoutFix(state, now)) return to('standing', 'motion');
  // Standing lasts only while a witness supports it.
  const isVouched = restingForMs(state.ignition, now.atMs) !== null || claim.kind === 'still';
  const isStarting = state.ignition.suspension === 'start';
  return drive.state === 'driving' || (drive.state === 'standing' && !isVouched && !isStarting)
    ? to('unknown', null)
    : drive;
}

/** Parking place: set by proof, kept until evidence of movement or of a running engine. */
export function parkedAfter(state: EvidenceState, claim: GnssClaim, now: StepTime): Point | null {
  const { parkedAt } = state.record;
  const isStated = claim.kind === 'unknown' && (claim.saidKmh ?? 0) >= gnssLimits.driveKmh;
  const speaks = isMoving(claim) || isStated || engineBy(state) !== null;
  if (speaks || (isMotionActive(state, now.atMs) && !isStill(claim))) return null;
  if (claim.kind !== 'still' || !isStill(claim)) return parkedAt;
  const isThere = isAt(parkedAt, claim);
  // A new place needs an input that is alive and reads "off".
  return isThere || restingForMs(state.ignition, now.atMs) === null ? parkedAt : roundedPlace(claim.at);
}

/** Record after this step. It keeps the worst state since the ignition was last on, so that only few drives of a day write it. */
export function recordAfter(
  state: EvidenceState,
  parkedAt: EvidenceRecord['parkedAt'],
  utcMs: number | null,
): EvidenceRecord {
  const { record, drive, credit } = state;
  const { credits } = credit;
  const isParked =
    drive.state === 'standing' && (parkedAt !== null || drive.by === 'motion') && engineBy(state) === null;
  const worst = record.motion === 'driving' || drive.state === 'driving' ? 'driving' : 'unknown';
  const wasParked = record.motion === 'standing' && drive.state === 'standing' && engineBy(state) === null;
  const motion = isParked || wasParked ? 'standing' : worst;
  const isSame = record.motion === motion && record.parkedAt === parkedAt && record.credits === credits;
  if (isSame) return record;
  const change = record.motion === motion ? {} : { by: drive.by, utcMs };
  return { ...record, credits, motion, parkedAt, ...change };
}
