// All witnesses of standstill and of an engine at rest, joined: the claim of each, whether it has earned credit, and
// whether the vehicle drives, stands, or neither is known. It never decides about a relay; absence is never
// standstill.
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import type { Fix } from '../gnss/epochs.ts';
import {
  type Contact,
  confirmByPlace,
  createContact,
  isCommonLoss,
  isLostWithAnalog,
  recordReading,
  restingForMs,
  type Sensed,
  suspendByBoard,
} from './contact.ts';
import {
  type Activities,
  type Activity,
  type CreditState,
  createCreditState,
  creditState,
  stepCredits,
} from './credit.ts';
import { type EvidenceRecord, type MotionState, roundedPlace } from './evidence-record.ts';
import {
  createGnssState,
  type GnssClaim,
  type GnssState,
  gnssClaim,
  gnssLimits,
  recordGnssFix,
  recordGnssVoid,
  wasSuspectAt,
} from './gnss-standing.ts';

export const evidenceLimits = {
  /**
   * A turning engine, and one at rest, in 1/min. Not the settings of the alarms, which operators may change
   * remotely.
   */
  turningRpm: 100,
  restingRpm: 50,
  /** An alternator that charges a 12 V and a 24 V system, and how far below the battery rests. */
  chargingV: { low: 13.2, high: 26.4 },
  restBelowV: 0.2,
  /** Between the two systems; a 12 V system never reaches it. */
  highSystemV: 18,
  /** Below this the supply is not measured: an unwired input. */
  measuredV: 6,
  /** A motion input that was active within this time is active: sensors pulse. */
  pulseMs: 3000,
  /**
   * A motion input claims rest after this long without a pulse: three times the longest gap that keeps its credit.
   */
  quietMs: 30_000,
  /** ... and a reading of the engine after this long. */
  restMs: 10_000,
  /** A motion input that is active for this long speaks for movement of the vehicle, not for a slammed door. */
  movedMs: 2000,
  /** Without a position: ignition off for this long. */
  offNoFixMs: 60_000,
  /** An analog value that is lost for this long: the board has lost its supply or its common. */
  analogLostMs: 3000,
  /** An analog value that was not read for this long is not known: ten polls of the shipped profiles. */
  analogAgeMs: 10_000,
  /** How often the evidence is evaluated when no input changes. */
  lookMs: 500,
} as const;

/** What the vehicle reads at this moment. */
export interface Seen {
  readonly ignition: Sensed;
  readonly motion: Sensed;
  /** In 1/min; null = not known or not fitted. */
  readonly rpm: number | null;
  /** In volts; null = not known or not fitted. */
  readonly supplyV: number | null;
}

export interface Level {
  readonly activity: Activity;
  readonly sinceMs: number;
}

export interface EvidenceState {
  readonly fitted: readonly WitnessName[];
  readonly hdopMost: number;
  readonly gnss: GnssState;
  readonly ignition: Contact;
  readonly motion: Contact;
  readonly rpm: Level;
  readonly voltage: Level;
  /** When an analog value was last lost that had been measured, and whether it still is. */
  readonly analogLostMs: number;
  readonly isAnalogLost: boolean;
  readonly credit: CreditState;
  /** As it is now; the record keeps the worst. */
  readonly drive: { readonly state: MotionState; readonly by: WitnessName | null; readonly sinceMs: number };
  /** To be on disk before it is used; another object whenever it must be written. */
  readonly record: EvidenceRecord;
  /** What was seen last. */
  readonly seen: Seen;
  /** A fix or its absence was taken in since. */
  readonly isStale: boolean;
}

export interface EvidenceSetup {
  readonly record: EvidenceRecord;
  /** Witnesses that the configuration names. */
  readonly fitted: readonly WitnessName[];
  /** A fix with a higher HDOP proves nothing. */
  readonly hdopMost: number;
  readonly nowMs: number;
}

/** At a start: credit and motion as on disk; what the inputs read counts only once they were seen alive. */
export function createEvidence({ record, fitted, hdopMost, nowMs }: EvidenceSetup): EvidenceState {
  const level: Level = { activity: null, sinceMs: nowMs };
  const unread: Sensed = { value: null, sinceMs: nowMs };
  return {
    fitted,
    hdopMost,
    gnss: createGnssState(),
    ignition: createContact(nowMs),
    motion: createContact(nowMs),
    rpm: level,
    voltage: level,
    analogLostMs: Number.NEGATIVE_INFINITY,
    isAnalogLost: false,
    credit: createCreditState(record.credits, nowMs),
    // After a drive at best unknown; after a standstill the stored proof, until there is evidence against it.
    drive: { state: record.motion === 'standing' ? 'standing' : 'unknown', by: record.by, sinceMs: nowMs },
    record,
    seen: { ignition: unread, motion: unread, rpm: null, supplyV: null },
    isStale: true,
  };
}

/** Records one fix that was checked for plausibility. Follow it with `stepEvidence`. */
export function recordFix(state: EvidenceState, fix: Fix): EvidenceState {
  return { ...state, gnss: recordGnssFix(state.gnss, fix, state.hdopMost), isStale: true };
}

/** Records an epoch without a fix. */
export function recordVoid(state: EvidenceState): EvidenceState {
  return { ...state, gnss: recordGnssVoid(state.gnss), isStale: true };
}

function rpmActivity(rpm: number | null): Activity {
  if (rpm === null) return null;
  if (rpm >= evidenceLimits.turningRpm) return 'active';
  return rpm < evidenceLimits.restingRpm ? 'rest' : null;
}

function voltageActivity(volts: number | null): Activity {
  const { chargingV, restBelowV, highSystemV, measuredV } = evidenceLimits;
  if (volts === null || volts < measuredV) return null;
  const fromV = volts >= highSystemV ? chargingV.high : chargingV.low;
  if (volts >= fromV) return 'active';
  return volts < fromV - restBelowV ? 'rest' : null;
}

function levelAfter(before: Level, activity: Activity, nowMs: number): Level {
  return before.activity === activity ? before : { activity, sinceMs: nowMs };
}

/** The receiver's claim at `nowMs`, with the known place. */
export function claimOf(state: EvidenceState, nowMs: number): GnssClaim {
  const engineOnMs = state.ignition.roseMs;
  return gnssClaim(state.gnss, { at: state.record.parkedAt, engineOnMs }, nowMs);
}

export const isStill = (claim: GnssClaim): boolean =>
  claim.kind === 'still' && claim.forMs >= gnssLimits.windowMs;

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

/** The witness that speaks for a running engine now; null when none does. */
function engineBy(state: EvidenceState): WitnessName | null {
  if (state.ignition.sensed.value === true) return 'ignition';
  if (state.rpm.activity === 'active') return 'rpm';
  return state.voltage.activity === 'active' ? 'voltage' : null;
}

function isMotionActive({ motion }: EvidenceState, nowMs: number): boolean {
  const { pulseMs, movedMs } = evidenceLimits;
  return nowMs - motion.activeMs <= pulseMs && motion.activeMs - motion.roseMs >= movedMs;
}

function isCounted(state: EvidenceState, name: 'ignition' | 'motion', utcMs: number | null): boolean {
  return creditState(state.credit.credits[name], utcMs) === 'proven' && state[name].suspension === null;
}

/** Standing shown without a position: by two inputs that have earned it. */
function isStillWithoutFix(state: EvidenceState, now: StepTime): boolean {
  const { offNoFixMs, quietMs } = evidenceLimits;
  const areCounted = isCounted(state, 'ignition', now.utcMs) && isCounted(state, 'motion', now.utcMs);
  const offMs = restingForMs(state.ignition, now.atMs) ?? 0;
  const stillMs = restingForMs(state.motion, now.atMs) ?? 0;
  return areCounted && offMs >= offNoFixMs && stillMs >= quietMs && !wasSuspectAt(state.gnss, now.atMs);
}

/** The time of a step. */
export interface StepTime {
  /** Monotonic. */
  readonly atMs: number;
  /** Trusted UTC; null while unknown. */
  readonly utcMs: number | null;
}

/** Three fixes in a row that move: one alone may be noise. */
const isMoving = (claim: GnssClaim): boolean => claim.kind === 'moving' && claim.fixes >= 3;

function driveAfter(state: EvidenceState, claim: GnssClaim, now: StepTime): EvidenceState['drive'] {
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
  // With ignition on and no evidence of movement or standstill, neither is known.
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

/** The parking place: set by proof, kept until there is evidence of movement or of a running engine. */
function parkedAfter(state: EvidenceState, claim: GnssClaim, now: StepTime): Point | null {
  const { parkedAt } = state.record;
  const speaks = isMoving(claim) || engineBy(state) !== null;
  if (speaks || (isMotionActive(state, now.atMs) && !isStill(claim))) return null;
  if (claim.kind !== 'still' || !isStill(claim)) return parkedAt;
  const isThere = isAt(parkedAt, claim);
  // A new place needs an input that is alive and reads "off".
  return isThere || restingForMs(state.ignition, now.atMs) === null ? parkedAt : roundedPlace(claim.at);
}

/** The record after this step: the worst since the ignition was last on, so that few drives of a day write it. */
function recordAfter(state: EvidenceState, parkedAt: Point | null, utcMs: number | null): EvidenceRecord {
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

type Draft = { -readonly [Key in keyof EvidenceState]: EvidenceState[Key] };

const contacts = ['ignition', 'motion'] as const;

/** Whether the receiver shows the vehicle at this place. */
function isAt(place: Point | null, claim: GnssClaim): boolean {
  return place !== null && claim.kind === 'still' && distanceM(place, claim.at) <= gnssLimits.samePlaceM;
}

const isMeasured = (value: number | null, least: number): boolean => value !== null && value >= least;

/** A value that was measured is not any more: an engine that stops reads 0 1/min, and a battery never reads 0 V. */
function losesAnalog(before: Seen, seen: Seen): boolean {
  const { measuredV } = evidenceLimits;
  return (
    (isMeasured(before.rpm, 0) && !isMeasured(seen.rpm, 0)) ||
    (isMeasured(before.supplyV, measuredV) && !isMeasured(seen.supplyV, measuredV))
  );
}

/** Every analog witness that is fitted is measured. */
function hasAnalogs(fitted: EvidenceState['fitted'], { rpm, supplyV }: Seen): boolean {
  const hasRpm = !fitted.includes('rpm') || isMeasured(rpm, 0);
  return hasRpm && (!fitted.includes('voltage') || isMeasured(supplyV, evidenceLimits.measuredV));
}

/** Whether inputs have just fallen together, or together with an analog value. */
function losesCommon(before: EvidenceState, state: EvidenceState): boolean {
  const { ignition, motion, analogLostMs } = state;
  const fell = ignition.fellMs !== before.ignition.fellMs || motion.fellMs !== before.motion.fellMs;
  if (!fell && analogLostMs === before.analogLostMs) return false;
  if (isLostWithAnalog(ignition, analogLostMs) || isLostWithAnalog(motion, analogLostMs)) return true;
  return fell && isCommonLoss(ignition, motion);
}

const isSameReading = (a: Sensed, b: Sensed): boolean => a.value === b.value && a.sinceMs === b.sinceMs;

/** Whether `stepEvidence` is due: an input changed, a fix arrived, or half a second has passed. */
export function isStepDue(state: EvidenceState, seen: Seen, nowMs: number): boolean {
  const { ignition, motion, rpm, supplyV } = state.seen;
  if (state.isStale || nowMs - state.credit.atMs >= evidenceLimits.lookMs) return true;
  if (!isSameReading(seen.ignition, ignition) || !isSameReading(seen.motion, motion)) return true;
  return seen.rpm !== rpm || seen.supplyV !== supplyV;
}

/**
 * One evaluation of all witnesses. Call it with each change of an input, each fix, and at least every two seconds.
 */
export function stepEvidence(before: EvidenceState, seen: Seen, now: StepTime): EvidenceState {
  const { atMs, utcMs } = now;
  // One copy for the step, filled in order: inputs, suspension, credit, drive, record.
  const state: Draft = {
    ...before,
    seen,
    isStale: false,
    ignition: recordReading(before.ignition, seen.ignition, { atMs, countsFlips: true }),
    motion: recordReading(before.motion, seen.motion, { atMs, countsFlips: false }),
    rpm: levelAfter(before.rpm, rpmActivity(seen.rpm), atMs),
    voltage: levelAfter(before.voltage, voltageActivity(seen.supplyV), atMs),
  };
  const claim = claimOf(state, atMs);
  const stands = isStill(claim) && creditState(state.credit.credits.gnss, utcMs) === 'proven';
  if (losesAnalog(before.seen, seen)) {
    state.analogLostMs = atMs;
    state.isAnalogLost = true;
  } else if (state.isAnalogLost && hasAnalogs(state.fitted, seen)) state.isAnalogLost = false;
  if (!stands && losesCommon(before, state)) {
    state.ignition = { ...state.ignition, suspension: 'common' };
    state.motion = { ...state.motion, suspension: 'common' };
  }
  // Inputs of a board that has lost its supply are dead, whatever they read.
  if (state.isAnalogLost && atMs - state.analogLostMs >= evidenceLimits.analogLostMs) {
    state.ignition = suspendByBoard(state.ignition);
    state.motion = suspendByBoard(state.motion);
  } else if (stands && isAt(state.record.parkedAt, claim)) {
    state.ignition = confirmByPlace(state.ignition);
    state.motion = confirmByPlace(state.motion);
  }
  const suspended = contacts.filter((name) => state[name].suspension !== null);
  state.credit = stepCredits(state.credit, activitiesOf(state, claim, atMs), { ...now, suspended });
  state.drive = driveAfter(state, claim, now);
  state.record = recordAfter(state, parkedAfter(state, claim, now), utcMs);
  return state;
}
