// Evidence at one moment: every witness with its state and claim, and all inputs of the interlock. Derived from the state of `evidence.ts` without
// changing it.
import { type WitnessName, type WitnessState, witnessNames } from '../../../src/core/verdict/witness.ts';
import type { Cause } from './common-causes.ts';
import { type Contact, restingForMs, type Sensed, type Suspension } from './contact.ts';
import { creditLimits, creditState } from './credit.ts';
import {
  causesNow,
  claimOf,
  countedContact,
  type EvidenceState,
  evidenceLimits,
  isStill,
  type Level,
  type StepTime,
} from './evidence-state.ts';
import type { GnssClaim } from './gnss-claim.ts';

export interface Witness {
  readonly state: WitnessState;
  /** `rest`: still, off, not turning or not charging, for as long as this witness needs. */
  readonly claim: 'rest' | 'active' | null;
  /** Time at rest, ms; null: not at rest. */
  readonly restForMs: number | null;
  /** Single faults that could make it claim rest wrongly. */
  readonly causes: readonly Cause[];
}

export type Witnesses = Readonly<Record<WitnessName, Witness>>;

type Reading = Pick<Witness, 'claim' | 'restForMs'> & { readonly isSuspended?: boolean };

/** A literal with every member: spreads took two thirds of the time in this file and in the evidence steps. */
function witnessOf(
  state: EvidenceState,
  name: WitnessName,
  { claim, restForMs, isSuspended = false }: Reading,
): Witness {
  const credit = creditState(state.credit.credits[name]);
  const counted = credit === 'proven' && isSuspended ? 'suspended' : credit;
  return {
    state: state.fitted.includes(name) ? counted : 'absent',
    causes: causesNow(state, name),
    claim,
    restForMs,
  };
}

function levelReading({ activity, sinceMs }: Level, nowMs: number): Reading {
  if (activity === 'active') return { claim: 'active', restForMs: null };
  const restForMs = activity === 'rest' ? nowMs - sinceMs : null;
  return { claim: restForMs !== null && restForMs >= evidenceLimits.restMs ? 'rest' : null, restForMs };
}

function contactReading(
  contact: Contact,
  now: { readonly atMs: number; readonly quietMs: number; readonly pulseMs: number },
): Reading {
  const isSuspended = contact.suspension !== null;
  const isPulsing = now.atMs - contact.activeMs <= now.pulseMs;
  if (contact.sensed.value === true || isPulsing) return { claim: 'active', restForMs: null, isSuspended };
  const restForMs = restingForMs(contact, now.atMs);
  const claim = restForMs !== null && restForMs >= now.quietMs ? 'rest' : null;
  return { claim, restForMs, isSuspended };
}

/** Reading of the motion input. A contradicted input that is active or pulses for `stuckMs` is stuck and claims nothing. */
function motionReading(state: EvidenceState, contact: Contact, atMs: number): Reading {
  const { quietMs, pulseMs } = evidenceLimits;
  const { activity, atMs: sinceMs } = state.credit.since.motion;
  const isStuck = activity === 'active' && atMs - sinceMs >= creditLimits.stuckMs;
  return isStuck && creditState(state.credit.credits.motion) === 'contradicted'
    ? { claim: null, restForMs: null, isSuspended: contact.suspension !== null }
    : contactReading(contact, { atMs, quietMs, pulseMs });
}

function receiverReading(claim: GnssClaim): Reading {
  if (claim.kind === 'still') return { claim: isStill(claim) ? 'rest' : null, restForMs: claim.forMs };
  return { claim: claim.kind === 'moving' ? 'active' : null, restForMs: null };
}

/**
 * All witnesses at `now`.
 * @param claim the receiver's claim at that time.
 */
export function witnessesOf(
  state: EvidenceState,
  now: StepTime,
  claim = claimOf(state, now.atMs),
): Witnesses {
  const { atMs } = now;
  const motion = countedContact(state, 'motion', claim);
  const ignition = countedContact(state, 'ignition', claim);
  return {
    gnss: witnessOf(state, 'gnss', receiverReading(claim)),
    motion: witnessOf(state, 'motion', motionReading(state, motion, atMs)),
    ignition: witnessOf(state, 'ignition', contactReading(ignition, { atMs, quietMs: 0, pulseMs: -1 })),
    rpm: witnessOf(state, 'rpm', levelReading(state.rpm, atMs)),
    voltage: witnessOf(state, 'voltage', levelReading(state.voltage, atMs)),
  };
}

/** State of every witness, as reported in `hello`, `status` and by the doctor. */
export function witnessStatesOf(
  state: EvidenceState,
  now: StepTime,
): Readonly<Record<WitnessName, WitnessState>> {
  const witnesses = witnessesOf(state, now);
  return Object.fromEntries(witnessNames.map((name) => [name, witnesses[name].state])) as Record<
    WitnessName,
    WitnessState
  >;
}

/** True when the receiver shows a vehicle at rest, proven or not. For reports that decide nothing. */
export function looksStill(claim: GnssClaim): boolean {
  return (
    claim.kind === 'still' ||
    (claim.kind === 'unknown' && ['no_stop_seen', 'frozen', 'moving', 'unsteady'].includes(claim.fault))
  );
}

/** All inputs of the interlock at one moment. */
export interface Evidence {
  readonly nowMs: number;
  readonly ignition: Sensed;
  /** Reason why the ignition reading does not count; null: it counts. */
  readonly ignitionSuspension: Suspension | null;
  /** Monotonic start of the present ignition "off", ms, over losses of samples shorter than 3 s; null: not off. */
  readonly offSinceMs: number | null;
  readonly panic: Sensed;
  readonly gnss: GnssClaim;
  /** Monotonic time of the last doubtful or moving position, ms; null: none. */
  readonly suspectMs: number | null;
  readonly witnesses: Witnesses;
  readonly drive: EvidenceState['drive'];
  /** UTC from a trusted source, ms; null: none. */
  readonly trustedUtcMs: number | null;
  /** Latest possible present UTC for expiry, ms; null exactly when `trustedUtcMs` is. */
  readonly latestUtcMs: number | null;
  /** Every available clock is behind the newest time that was ever trusted. */
  readonly isTimeBehind: boolean;
  /** The broker's clock was set back: the expiry of commands from an earlier run cannot be checked. */
  readonly isServerBehind: boolean;
  /** The broker, or two clocks that agree, confirmed the time in this run. Commands of an earlier run need this. */
  readonly isTimeConfirmed: boolean;
  /** The board answered its last read-back. */
  readonly boardAlive: boolean;
  /** The line to the board is closed, so nothing can be written. Absent: it is open, whether or not the board answers. */
  readonly isLineDown?: boolean;
  /** Monotonic time of the last answered request for ignition or motion input, the older of both, ms. Unknown inputs do not count. */
  readonly askedMs: number;
  /**
   * Monotonic end of the last hold-up of this process, or of a time without a watch for one, ms. Data read or requested before it decides nothing.
   */
  readonly heldUpMs: number;
  /** Evidence from the vehicle bus; absent: no bus, or nothing fresh. It only speaks against rest. */
  readonly bus?: { readonly isMoving: boolean; readonly isEngineRunning: boolean };
  /** Warning output; absent: none is fitted. */
  readonly warning?: {
    /** Time for which it was ordered and read back as sounding without a break, ms; null: it does not sound. */
    readonly soundsForMs: number | null;
    /** It was ordered on and does not follow. */
    readonly hasFault: boolean;
  };
}

/** The part of the evidence that the witnesses supply. */
export function testimonyOf(
  state: EvidenceState,
  now: StepTime,
): Pick<
  Evidence,
  'ignition' | 'ignitionSuspension' | 'offSinceMs' | 'gnss' | 'suspectMs' | 'witnesses' | 'drive'
> {
  const claim = claimOf(state, now.atMs);
  const { sensed, suspension, activeMs, offSinceMs } = countedContact(state, 'ignition', claim);
  const sinceMs = sensed.value === false ? Math.max(sensed.sinceMs, activeMs) : sensed.sinceMs;
  return {
    ignition: { value: sensed.value, sinceMs },
    ignitionSuspension: suspension,
    offSinceMs: sensed.value === false ? offSinceMs : null,
    gnss: claim,
    suspectMs: state.gnss.suspectMs,
    witnesses: witnessesOf(state, now, claim),
    drive: state.drive,
  };
}
