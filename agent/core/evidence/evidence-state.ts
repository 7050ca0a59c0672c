// The state of the evidence: what is known of all witnesses, and what each claims at one moment. It changes nothing; `evidence.ts` steps
// it.
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
  /**
   * A turning engine, and one at rest, in 1/min. Not the settings of the alarms, which operators may change
   * remotely.
   */
  turningRpm: 100,
  restingRpm: 50,
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
  /** An ignition that falls within this of an interruption of the receiver may have lost the supply that both share: the longest silence of a board that suspends nothing. */
  dipMs: 3000,
  /** An analog value that is lost for this long: the board has lost its supply or its common. */
  analogLostMs: 3000,
  /** An analog value that was not read for this long is not known: ten polls of the shipped profiles. */
  analogAgeMs: 10_000,
  /** A receiver that shows a drive for this long means it: no noise of a parked one lasts. */
  drivenMs: 3000,
  /** With the ignition on for this long, a receiver that repeats the position from before is stale. */
  pinnedMs: 30_000,
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
  /** Units whose loop-back answered lately: they do not repeat old values. */
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
  /** When the receiver last showed rest, and since when it has given no position; monotonic. */
  readonly restedMs: number;
  readonly blindSinceMs: number | null;
  /** When the receiver came back from an interruption about the time at which the ignition was switched, or the unit was switched on; monotonic. */
  readonly resumedMs: number;
  /** Since when the receiver showed the last drive; monotonic. */
  readonly drivenSinceMs: number;
  /** When an analog value was last lost that had been measured, and whether it still is. */
  readonly analogLostMs: number;
  readonly isAnalogLost: boolean;
  /** When inputs that counted fell together and were suspended for that alone, monotonic; null: they were not, or fell again since. */
  readonly fellTogetherMs: number | null;
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
  readonly causes: Causes;
  /** A fix with a higher HDOP proves nothing. */
  readonly hdopMost: number;
  /** When the unit was switched on, monotonic. */
  readonly poweredMs: number;
  readonly nowMs: number;
}

/** At a start: credit and motion as on disk; what the inputs read counts only once they were seen alive. */
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
    // The disk says that it was parked: whatever charges it now is no alternator of its own.
    supply: { peakV: null, hasDropped: isParked, baseV: null, roseMs: null },
    restedMs: Number.NEGATIVE_INFINITY,
    blindSinceMs: null,
    // The dip of the supply that has started the unit anew may have restarted the receiver, and killed the contacts.
    resumedMs: isLive ? Number.NEGATIVE_INFINITY : poweredMs,
    drivenSinceMs: Number.NEGATIVE_INFINITY,
    analogLostMs: Number.NEGATIVE_INFINITY,
    isAnalogLost: false,
    fellTogetherMs: null,
    credit: createCreditState(record.credits, causes, nowMs),
    // After a drive at best unknown; after a standstill the stored proof, until there is evidence against it.
    drive: { state: isParked ? 'standing' : 'unknown', by: record.by, sinceMs: nowMs },
    record,
    seen: { ignition: unread, motion: unread, rpm: null, supplyV: null, answering: [] },
    isStale: true,
  };
}

/** The receiver's claim at `nowMs`, with the known place. */
export function claimOf(state: EvidenceState, nowMs: number): GnssClaim {
  const engineOnMs = state.ignition.roseMs;
  const { resumedMs } = state;
  return gnssClaim(state.gnss, { at: state.record.parkedAt, engineOnMs, resumedMs }, nowMs);
}

export const isStill = (claim: GnssClaim): boolean =>
  claim.kind === 'still' && claim.forMs >= gnssLimits.windowMs;

/** The time of a step. */
export interface StepTime {
  /** Monotonic. */
  readonly atMs: number;
  /** Trusted UTC; null while unknown. */
  readonly utcMs: number | null;
}

const blindFaults: readonly GnssFault[] = ['no_fix', 'fix_old', 'fix_void'];

/** The receiver gives no position at all. */
export function isBlind(claim: GnssClaim): claim is Extract<GnssClaim, { kind: 'unknown' }> {
  return claim.kind === 'unknown' && blindFaults.includes(claim.fault);
}

/** Single faults that could make a witness claim rest at this moment. */
export function causesNow({ causes, seen }: EvidenceState, name: WitnessName): readonly Cause[] {
  const { answering } = seen;
  return answering.length === 0
    ? causes[name]
    : causes[name].filter((cause) => !answering.some((unit) => cause === `board:${unit}`));
}

/** Whether the receiver shows the vehicle at this place. */
export function isAt(place: Point | null, claim: GnssClaim): boolean {
  return place !== null && claim.kind === 'still' && distanceM(place, claim.at) <= gnssLimits.samePlaceM;
}

/** The input has earned credit and counts. */
export function isCounted(state: EvidenceState, name: 'ignition' | 'motion'): boolean {
  return creditState(state.credit.credits[name]) === 'proven' && state[name].suspension === null;
}

/**
 * An input as it counts at this moment: what its start suspended counts where a proven receiver shows the vehicle where it was parked; of a live
 * contact, also where it has shown one place for a minute.
 */
export function countedContact(state: EvidenceState, name: 'ignition' | 'motion', claim: GnssClaim): Contact {
  const contact = state[name];
  if (contact.suspension === null || claim.kind !== 'still' || !isStill(claim)) return contact;
  const isHeld = contact.isLive && claim.forMs >= gnssLimits.holdMs;
  const isProven = creditState(state.credit.credits.gnss) === 'proven';
  return isProven && (isHeld || isAt(state.record.parkedAt, claim)) ? atPlace(contact) : contact;
}
