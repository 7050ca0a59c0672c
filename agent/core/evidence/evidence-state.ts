// State of the evidence: everything known of the witnesses, and the claims that follow from it at one moment. It changes nothing; `evidence.ts` makes
// the steps.
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import type { WitnessName } from '../../../src/core/verdict/witness.ts';
import { type Cause, type Causes, isLiveContact } from './common-causes.ts';
import { atPlace, type Contact, createContact, type Sensed } from './contact.ts';
import { type Activity, type CreditState, createCreditState, creditState } from './credit.ts';
import { type EvidenceRecord, type MotionState } from './evidence-record.ts';
import { type GnssClaim, gnssClaim } from './gnss-claim.ts';
import { createGnssState, type GnssFault, type GnssState, gnssLimits } from './gnss-standing.ts';
import { type Supply } from './supply-voltage.ts';

export const evidenceLimits = {
  /** Speed of an engine that turns, and of one at rest, in 1/min. Fixed here: operators may change the alarm settings remotely. */
  turningRpm: 100,
  restingRpm: 50,
  /** A motion input that was active within this time counts as active, because sensors pulse. */
  pulseMs: 3000,
  /** Time without a pulse after which a motion input claims rest: three times the longest gap that keeps its credit. */
  quietMs: 30_000,
  /** Time at rest after which an analog witness (engine speed, supply voltage) claims rest. */
  restMs: 10_000,
  /** A motion input that is active for this long shows movement of the vehicle; a slammed door is shorter. */
  movedMs: 2000,
  /** Time with ignition off that standstill needs without a position. */
  offNoFixMs: 60_000,
  /** Maximum distance between two spans that one dip of the supply explains. It equals the longest board silence that suspends nothing. */
  dipMs: 3000,
  /** An analog value lost for this long shows that the board has lost its supply or its common. */
  analogLostMs: 3000,
  /** Age after which an analog value is unknown: ten polls of the shipped profiles. */
  analogAgeMs: 10_000,
  /** A receiver that shows a drive for this long is believed; noise of a parked receiver is shorter. */
  drivenMs: 3000,
  /** A receiver that still repeats its earlier position after this time with ignition on is stale. */
  pinnedMs: 30_000,
  /** Interval of the evaluation while no input changes. */
  lookMs: 500,
} as const;

export interface Seen {
  readonly ignition: Sensed;
  readonly motion: Sensed;
  /** In 1/min; null: unknown or not fitted. */
  readonly rpm: number | null;
  /** In volts; null: unknown or not fitted. */
  readonly supplyV: number | null;
  /** Units whose loop-back answered recently: they do not repeat old values. */
  readonly answering: readonly string[];
}

export interface Level {
  readonly activity: Activity;
  readonly sinceMs: number;
}

export interface EvidenceState {
  readonly fitted: readonly WitnessName[];
  readonly causes: Causes;
  readonly hdopMost: number;
  readonly gnss: GnssState;
  readonly ignition: Contact;
  readonly motion: Contact;
  readonly rpm: Level;
  readonly voltage: Level;
  readonly supply: Supply;
  /** Monotonic, ms: last time the receiver showed rest; start of its present time without a position (null: it gives one). */
  readonly restedMs: number;
  readonly blindSinceMs: number | null;
  /** Monotonic end of the last receiver interruption that a dip of the supply may have caused (`resumedAfter`), or power-on of the unit, ms. */
  readonly resumedMs: number;
  /** Monotonic start of the last drive that the receiver showed, ms. */
  readonly drivenSinceMs: number;
  /** Monotonic time of the last loss of a measured analog value, ms, and whether it is still lost. */
  readonly analogLostMs: number;
  readonly isAnalogLost: boolean;
  /** Monotonic time at which counted inputs fell together and were suspended for that alone, ms; null: they were not, or fell again since. */
  readonly fellTogetherMs: number | null;
  readonly credit: CreditState;
  /** Present drive state; the record keeps the worst one. */
  readonly drive: { readonly state: MotionState; readonly by: WitnessName | null; readonly sinceMs: number };
  /** It must be on disk before it is used. A new object means that it must be written. */
  readonly record: EvidenceRecord;
  readonly seen: Seen;
  /** A fix, or an epoch without one, was recorded since the last step. */
  readonly isStale: boolean;
}

export interface EvidenceSetup {
  readonly record: EvidenceRecord;
  /** Witnesses named in the configuration. */
  readonly fitted: readonly WitnessName[];
  readonly causes: Causes;
  /** A fix with a higher HDOP proves nothing. */
  readonly hdopMost: number;
  /** Monotonic time at which the unit was switched on, ms. */
  readonly poweredMs: number;
  readonly nowMs: number;
}

/** State at a start: credit and motion from disk. Inputs are suspended until seen active, except live contacts of a vehicle that was parked. */
export function createEvidence(setup: EvidenceSetup): EvidenceState {
  const { record, fitted, causes, hdopMost, poweredMs, nowMs } = setup;
  const level: Level = { activity: null, sinceMs: nowMs };
  const unread: Sensed = { value: null, sinceMs: nowMs };
  const isLive = isLiveContact(causes.ignition);
  const isParked = record.motion === 'standing';
  return {
    fitted,
    causes,
    hdopMost,
    gnss: createGnssState(nowMs),
    ignition: createContact(nowMs, isLive, isParked),
    motion: createContact(nowMs, isLiveContact(causes.motion), isParked),
    rpm: level,
    voltage: level,
    // The vehicle was parked according to the disk, so its own alternator cannot be the source of a charging voltage.
    supply: { peakV: null, hasDropped: isParked, baseV: null, roseMs: null },
    restedMs: Number.NEGATIVE_INFINITY,
    blindSinceMs: null,
    // The supply dip that restarted the unit may also have restarted the receiver and killed the contacts.
    resumedMs: isLive ? Number.NEGATIVE_INFINITY : poweredMs,
    drivenSinceMs: Number.NEGATIVE_INFINITY,
    analogLostMs: Number.NEGATIVE_INFINITY,
    isAnalogLost: false,
    fellTogetherMs: null,
    credit: createCreditState(record.credits, causes, nowMs),
    // After a drive the state is unknown at best. After a standstill the stored proof holds until evidence speaks against it.
    drive: { state: isParked ? 'standing' : 'unknown', by: record.by, sinceMs: nowMs },
    record,
    seen: { ignition: unread, motion: unread, rpm: null, supplyV: null, answering: [] },
    isStale: true,
  };
}

/** The receiver's claim at `nowMs` (monotonic), given the recorded parking place. */
export function claimOf(state: EvidenceState, nowMs: number): GnssClaim {
  const engineOnMs = state.ignition.roseMs;
  const { resumedMs } = state;
  return gnssClaim(state.gnss, { at: state.record.parkedAt, engineOnMs, resumedMs }, nowMs);
}

export const isStill = (claim: GnssClaim): boolean =>
  claim.kind === 'still' && claim.forMs >= gnssLimits.windowMs;

export interface StepTime {
  /** Monotonic time, ms. */
  readonly atMs: number;
  /** Trusted UTC, ms; null: unknown. */
  readonly utcMs: number | null;
}

const blindFaults: readonly GnssFault[] = ['no_fix', 'fix_old', 'fix_void'];

/** The receiver gives no position at all. */
export function isBlind(claim: GnssClaim): claim is Extract<GnssClaim, { kind: 'unknown' }> {
  return claim.kind === 'unknown' && blindFaults.includes(claim.fault);
}

/** Single faults that could make the witness claim rest now. A board whose loop-back answered cannot. */
export function causesNow({ causes, seen }: EvidenceState, name: WitnessName): readonly Cause[] {
  const { answering } = seen;
  return answering.length === 0
    ? causes[name]
    : causes[name].filter((cause) => !answering.some((unit) => cause === `board:${unit}`));
}

/** True when the receiver shows the vehicle at rest at this place. */
export function isAt(place: Point | null, claim: GnssClaim): boolean {
  return place !== null && claim.kind === 'still' && distanceM(place, claim.at) <= gnssLimits.samePlaceM;
}

/** The input has earned credit and counts. */
export function isCounted(state: EvidenceState, name: 'ignition' | 'motion'): boolean {
  return creditState(state.credit.credits[name]) === 'proven' && state[name].suspension === null;
}

/**
 * The input as it counts now. A suspension by start or board is lifted while a proven receiver shows the vehicle at the parking place. For a live
 * contact, one place held for a minute is enough.
 */
export function countedContact(state: EvidenceState, name: 'ignition' | 'motion', claim: GnssClaim): Contact {
  const contact = state[name];
  if (contact.suspension === null || claim.kind !== 'still' || !isStill(claim)) return contact;
  const isHeld = contact.isLive && claim.forMs >= gnssLimits.holdMs;
  const isProven = creditState(state.credit.credits.gnss) === 'proven';
  return isProven && (isHeld || isAt(state.record.parkedAt, claim)) ? atPlace(contact) : contact;
}
