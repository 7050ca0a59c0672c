// The safety interlock: may this relay change happen now? Default rules of edge-agents 2.3, complete. Pure and total:
// every input that is unknown means wait, with the reason in words that an operator understands. There is no option
// here that could be set remotely.
import type { FeatureName, FeatureState } from '../../src/core/event.ts';
import { type Evidence, heldMs } from './evidence.ts';

export const interlockLimits = {
  /** Ignition must have been off this long when standstill is proven by GNSS (rule 1). */
  ignitionOffMs: 10_000,
  /** ... and this long when there is no fix (rule 1). */
  ignitionOffNoFixMs: 60_000,
  /** Standstill must have lasted this long (rule 1). */
  standstillMs: 10_000,
  /** Least time between two changes of a relay (rule 11). */
  betweenChangesMs: 10_000,
  /** Most changes of a relay in an hour (rule 11); every change counts, whoever asked for it. */
  changesPerHour: 6,
} as const;

export type Verdict = { readonly go: true } | { readonly go: false; readonly waiting: string };

const go: Verdict = { go: true };
const wait = (waiting: string): Verdict => ({ go: false, waiting });

export interface RelayChange {
  readonly feature: FeatureName;
  readonly state: FeatureState;
  /** UTC ms of earlier changes of this relay, newest last. */
  readonly changesUtcMs: readonly number[];
}

/** Engine enabled and cargo locked are the safe states: the relay is de-energised. */
export function isSafeState(_feature: FeatureName, state: FeatureState): boolean {
  return state === '0';
}

/** Standstill as proven by GNSS, or by a motion sensor, or not at all. */
function standstill(evidence: Evidence): Verdict {
  if (evidence.motion.value === true) return wait('the motion sensor reports movement');
  const { speed } = evidence;
  if (speed.kind === 'moving') return wait(`the vehicle moves at ${speed.speedKmh.toFixed(0)} km/h`);
  if (speed.kind === 'standing') {
    if (speed.forMs >= interlockLimits.standstillMs) return go;
    return wait(`standing for less than ${interlockLimits.standstillMs / 1000} s`);
  }
  return wait(`speed is unknown: ${speed.why}`);
}

/** The rule without a fix: ignition off for a minute and a motion sensor that saw nothing in that time. */
function standstillWithoutFix(evidence: Evidence, needsSensor: boolean): Verdict {
  if (evidence.speed.kind !== 'unknown' || evidence.speed.suspect)
    return wait('the position was suspect lately');
  const offMs = heldMs(evidence.ignition, false, evidence.nowMs) ?? 0;
  const stillMs = heldMs(evidence.motion, false, evidence.nowMs);
  if (offMs < interlockLimits.ignitionOffNoFixMs) {
    return wait(
      `without a position, ignition must be off for ${interlockLimits.ignitionOffNoFixMs / 1000} s`,
    );
  }
  if (stillMs === null)
    return needsSensor ? wait('no position, and no motion sensor to prove standstill') : go;
  return stillMs >= interlockLimits.standstillMs ? go : wait('the motion sensor reported movement just now');
}

function changeRate(change: RelayChange, nowUtcMs: number): Verdict {
  // A change that lies a little in the future counts as just now; one far ahead was stamped by a wrong clock.
  const ages = change.changesUtcMs
    .filter((utcMs) => utcMs - nowUtcMs < 3_600_000)
    .map((utcMs) => Math.max(0, nowUtcMs - utcMs));
  if (ages.some((ageMs) => ageMs < interlockLimits.betweenChangesMs)) {
    return wait(`the relay changed less than ${interlockLimits.betweenChangesMs / 1000} s ago`);
  }
  const lastHour = ages.filter((ageMs) => ageMs < 3_600_000).length;
  if (lastHour >= interlockLimits.changesPerHour) {
    return wait(`the relay changed ${lastHour} times within the last hour`);
  }
  return go;
}

function decideCut(evidence: Evidence): Verdict {
  const { ignition, nowMs } = evidence;
  if (ignition.value === null) return wait('ignition is unknown');
  if (ignition.value) return wait('ignition is on');
  const proven = standstill(evidence);
  if (!proven.go && evidence.speed.kind === 'unknown' && evidence.motion.value !== true) {
    const other = standstillWithoutFix(evidence, true);
    return other.go ? go : wait(`${proven.waiting}; ${other.waiting}`);
  }
  if (!proven.go) return proven;
  if (nowMs - ignition.sinceMs < interlockLimits.ignitionOffMs) {
    return wait(`ignition is off for less than ${interlockLimits.ignitionOffMs / 1000} s`);
  }
  return go;
}

function decideUnlock(evidence: Evidence): Verdict {
  const proven = standstill(evidence);
  if (proven.go || evidence.speed.kind !== 'unknown' || evidence.motion.value === true) return proven;
  return standstillWithoutFix(evidence, false).go ? go : proven;
}

/**
 * Decides one relay change that a command asks for. Restoring the engine and locking the cargo have no interlock.
 * For the others everything must be proven, the board alive and the time known.
 */
export function decideChange(change: RelayChange, evidence: Evidence): Verdict {
  if (isSafeState(change.feature, change.state)) return go;
  if (!evidence.boardAlive) return wait('the I/O board is silent');
  if (evidence.trustedUtcMs === null) return wait('the time is unknown, so expiry cannot be judged');
  const rate = changeRate(change, evidence.trustedUtcMs);
  if (!rate.go) return rate;
  return change.feature === 'enginecutoff' ? decideCut(evidence) : decideUnlock(evidence);
}

/** What speaks against a restrictive change at this moment, in words; null when nothing does. */
export function contradiction(feature: FeatureName, evidence: Evidence): string | null {
  const { ignition, motion, speed } = evidence;
  if (feature === 'enginecutoff' && ignition.value !== false)
    return ignition.value === null ? 'ignition is unknown' : 'ignition is on';
  if (motion.value === true) return 'the motion sensor reports movement';
  return speed.kind === 'moving' ? `the vehicle moves at ${speed.speedKmh.toFixed(0)} km/h` : null;
}

/**
 * Decides whether a confirmed cut may be written again after the relay fell off (rules 9 and 10). It was proven safe
 * when it was confirmed, so ignition off and nothing that speaks for movement will do, at once; but not once ignition
 * was on or the vehicle moved without the relay: then it may be on the road, and all is to be proven anew.
 */
export function decideReapply(evidence: Evidence, hasDriven: boolean): Verdict {
  if (hasDriven) return decideCut(evidence);
  const against = contradiction('enginecutoff', evidence);
  return against === null ? go : wait(against);
}
