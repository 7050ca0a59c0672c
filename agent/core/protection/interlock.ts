// The safety interlock: may this relay change happen now? The rules of edge-agents 2.3, complete. Pure and total: every
// input that is unknown means wait, with the reason in words that an operator understands. What an installer chose
// (`protection.ts`) can only make it stricter or name a mode; nothing here can be set remotely, and no setting raises
// the ceiling.
import type { FeatureName, FeatureState } from '../../../src/core/event.ts';
import { type Evidence, evidenceLimits, type FixRules, heldMs } from './evidence.ts';

export const interlockLimits = {
  /** Ignition must have been off this long when standstill is proven by GNSS (rule 1). */
  ignitionOffMs: 10_000,
  /** ... and this long when there is no fix (rule 1). */
  ignitionOffNoFixMs: 60_000,
  /** Standstill must have lasted this long (rule 1). */
  standstillMs: 10_000,
  /** The speed must have stayed below its limit this long before a cut that may meet a moving vehicle. */
  belowMs: 10_000,
  /** No mode cuts at this speed or above, whatever is configured (2.3, "never"). */
  ceilingKmh: 20,
  /** The warning output must have sounded this long before any action with ignition on (rule 13). */
  warningMs: 30_000,
  /** Least time between two changes of a relay (rule 11). */
  betweenChangesMs: 10_000,
  /** Most changes of a relay in an hour (rule 11); every change counts, whoever asked for it. */
  changesPerHour: 6,
  /** No automatic cut for this long after a panic press was released, nor after a start, when nobody knows of one. */
  panicCalmMs: 300_000,
  /** An order with ignition on is on the wire this soon or not at all: what was proven is about this moment only. */
  movingDriveMs: 500,
  /** Fullest acceleration of a light van (2 m/s2), and how old a fix is when its first byte comes. */
  accelerationKmhPerS: 7,
  fixLagMs: 500,
} as const;

/** `ignition_off`: prevent start. The other two may stop a running engine, and only with a warning before. */
export type CutMode = 'ignition_off' | 'at_standstill' | 'below_speed';

/** What the installer chose, in ms and km/h. Made by `createRules` only, which keeps every limit above. */
export interface InterlockRules {
  readonly cutMode: CutMode;
  /** The limit of `below_speed`. */
  readonly cutBelowKmh: number;
  /** `wait`: nothing restrictive without a fix. */
  readonly noGnss: 'wait' | 'ignition_off_only';
  readonly ignitionOffMs: number;
  readonly ignitionOffNoFixMs: number;
  readonly standstillMs: number;
  readonly belowMs: number;
  readonly warningMs: number;
  readonly hdopMost: number;
  /** Automatic cuts of geozones. */
  readonly zoneCuts: boolean;
  /** An allowed zone stands for standstill when the cargo is to be unlocked. */
  readonly unlockZones: boolean;
  /** How long an unlocked cargo lock stays open. */
  readonly unlockMs: number;
  /** A panic input is wired, so that its silence is no calm. */
  readonly isPanicFitted: boolean;
}

/** Rules from choices; none is ever weaker than its limit, whatever was chosen. */
export function createRules(chosen: Partial<InterlockRules> = {}): InterlockRules {
  const least = (name: 'ignitionOffMs' | 'ignitionOffNoFixMs' | 'standstillMs' | 'belowMs' | 'warningMs') =>
    Math.max(interlockLimits[name], chosen[name] ?? 0);
  return {
    cutMode: chosen.cutMode ?? 'ignition_off',
    cutBelowKmh: Math.min(interlockLimits.ceilingKmh, chosen.cutBelowKmh ?? 0),
    noGnss: chosen.noGnss ?? 'ignition_off_only',
    ignitionOffMs: least('ignitionOffMs'),
    ignitionOffNoFixMs: least('ignitionOffNoFixMs'),
    standstillMs: least('standstillMs'),
    belowMs: least('belowMs'),
    warningMs: least('warningMs'),
    hdopMost: Math.min(evidenceLimits.hdop, chosen.hdopMost ?? evidenceLimits.hdop),
    zoneCuts: chosen.zoneCuts ?? false,
    unlockZones: chosen.unlockZones ?? false,
    unlockMs: chosen.unlockMs ?? 30_000,
    isPanicFitted: chosen.isPanicFitted ?? false,
  };
}

/** The default mode: prevent start, nothing automatic. */
export const standardRules: InterlockRules = createRules();

/** Below this a `below_speed` cut may happen; the ceiling stands here so that no way around `createRules` raises it. */
export function cutLimitKmh(rules: InterlockRules): number {
  return Math.min(rules.cutBelowKmh, interlockLimits.ceilingKmh);
}

/** What the rules ask of a fix. */
export function fixRulesOf(rules: InterlockRules): FixRules {
  return { hdopMost: rules.hdopMost, belowKmh: cutLimitKmh(rules) };
}

interface Waiting {
  readonly go: false;
  readonly waiting: string;
  /** All is proven but the warning, which is to sound now. */
  readonly warns?: true;
}

/** `withinMs`: the order must be on the wire this soon, where that is sooner than usual. */
export type Verdict = { readonly go: true; readonly withinMs?: number } | Waiting;

const go: Verdict = { go: true };
const wait = (waiting: string): Waiting => ({ go: false, waiting });
const seconds = (ms: number): string => `${ms / 1000} s`;

export interface RelayChange {
  readonly feature: FeatureName;
  readonly state: FeatureState;
  /** UTC ms of earlier changes of this relay, newest last. */
  readonly changesUtcMs: readonly number[];
  /** Nobody asked for it: a geozone or a timer did. */
  readonly isAutomatic?: boolean;
  /** A person asked again although too many changes were told as the reason to wait (rule 11). */
  readonly isReconfirmed?: boolean;
}

/** Engine enabled and cargo locked are the safe states: the relay is de-energised. */
export function isSafeState(_feature: FeatureName, state: FeatureState): boolean {
  return state === '0';
}

/** Standstill as proven by GNSS, or by a motion sensor, or not at all. */
function standstill(evidence: Evidence, rules: InterlockRules): Verdict {
  if (evidence.motion.value === true) return wait('the motion sensor reports movement');
  const { speed } = evidence;
  if (speed.kind === 'moving') return wait(`the vehicle moves at ${speed.speedKmh.toFixed(0)} km/h`);
  if (speed.kind === 'standing') {
    return speed.forMs >= rules.standstillMs
      ? go
      : wait(`standing for less than ${seconds(rules.standstillMs)}`);
  }
  return wait(`speed is unknown: ${speed.why}`);
}

/** The rule without a fix: ignition off for a minute and a motion sensor that saw nothing in that time. */
function standstillWithoutFix(evidence: Evidence, rules: InterlockRules, needsSensor: boolean): Verdict {
  if (rules.noGnss === 'wait') return wait('this vehicle waits for a position');
  if (evidence.speed.kind !== 'unknown' || evidence.speed.suspect)
    return wait('the position was suspect lately');
  const offMs = heldMs(evidence.ignition, false, evidence.nowMs) ?? 0;
  const stillMs = heldMs(evidence.motion, false, evidence.nowMs);
  if (offMs < rules.ignitionOffNoFixMs) {
    return wait(`without a position, ignition must be off for ${seconds(rules.ignitionOffNoFixMs)}`);
  }
  if (stillMs === null)
    return needsSensor ? wait('no position, and no motion sensor to prove standstill') : go;
  return stillMs >= rules.standstillMs ? go : wait('the motion sensor reported movement just now');
}

function changeRate(change: RelayChange, nowUtcMs: number): Verdict {
  // A change that lies a little in the future counts as just now; one far ahead was stamped by a wrong clock.
  const ages = change.changesUtcMs
    .filter((utcMs) => utcMs - nowUtcMs < 3_600_000)
    .map((utcMs) => Math.max(0, nowUtcMs - utcMs));
  if (ages.some((ageMs) => ageMs < interlockLimits.betweenChangesMs)) {
    return wait(`the relay changed less than ${seconds(interlockLimits.betweenChangesMs)} ago`);
  }
  const lastHour = ages.filter((ageMs) => ageMs < 3_600_000).length;
  if (lastHour >= interlockLimits.changesPerHour && change.isReconfirmed !== true) {
    return wait(`the relay changed ${lastHour} times within the last hour${tooOften}`);
  }
  return go;
}

const tooOften = '; ask again to insist';

/** True for the reason that a person may overrule by asking once more (rule 11). */
export function isTooOften(waiting: string): boolean {
  return waiting.endsWith(tooOften);
}

/** Prevent start: ignition off and standstill (rule 1). */
function decideIgnitionOff(evidence: Evidence, rules: InterlockRules): Verdict {
  const { ignition, nowMs } = evidence;
  const proven = standstill(evidence, rules);
  if (!proven.go && evidence.speed.kind === 'unknown' && evidence.motion.value !== true) {
    const other = standstillWithoutFix(evidence, rules, true);
    return other.go ? go : wait(`${proven.waiting}; ${other.waiting}`);
  }
  if (!proven.go) return proven;
  if (nowMs - ignition.sinceMs < rules.ignitionOffMs) {
    return wait(`ignition is off for less than ${seconds(rules.ignitionOffMs)}`);
  }
  return go;
}

/** Every good fix of the check period was below the limit; the period starts again with the first that was not. */
function belowLimit(evidence: Evidence, rules: InterlockRules): Verdict {
  const { speed, pace } = evidence;
  const limitKmh = cutLimitKmh(rules);
  if (speed.kind === 'unknown') return wait(`speed is unknown: ${speed.why}`);
  if (pace === undefined || pace === null) return wait('speed is unknown: too few positions in a row');
  if (pace.belowForMs === null || pace.speedKmh >= limitKmh)
    return wait(`the vehicle moves at ${pace.speedKmh.toFixed(0)} km/h`);
  return pace.belowForMs >= rules.belowMs
    ? go
    : wait(`below ${limitKmh} km/h for less than ${seconds(rules.belowMs)}`);
}

/** Whether the vehicle, accelerating as hard as it can since its last fix, is still below the ceiling at the contact. */
function staysBelowCeiling(evidence: Evidence): boolean {
  const { pace } = evidence;
  if (pace === undefined || pace === null) return false;
  const { accelerationKmhPerS, fixLagMs, movingDriveMs, ceilingKmh } = interlockLimits;
  const blindMs = pace.ageMs + fixLagMs + movingDriveMs;
  return pace.speedKmh + (accelerationKmhPerS * blindMs) / 1000 <= ceilingKmh;
}

/** With ignition on: no doubt about the position lately, slow enough for long enough, and warned without a break (rule 13). */
function isWarnedAndSlow(evidence: Evidence, rules: InterlockRules): Verdict {
  const { ignition, nowMs, warning } = evidence;
  // With ignition on nothing but the receiver speaks of the speed.
  if (evidence.wasSuspect === true) return wait('the position was suspect lately');
  const slow = rules.cutMode === 'at_standstill' ? standstill(evidence, rules) : belowLimit(evidence, rules);
  if (!slow.go) return slow;
  if (warning === undefined) return wait('no warning output is fitted');
  if (warning.hasFault) return { ...wait('the warning output does not follow'), warns: true };
  const soundsMs = Math.min(warning.soundsForMs ?? 0, nowMs - ignition.sinceMs);
  return soundsMs >= rules.warningMs
    ? go
    : { ...wait(`the warning sounds for ${seconds(rules.warningMs)} first`), warns: true };
}

function decideIgnitionOn(evidence: Evidence, rules: InterlockRules): Verdict {
  const proven = isWarnedAndSlow(evidence, rules);
  if (!proven.go) return proven;
  return staysBelowCeiling(evidence)
    ? { go: true, withinMs: interlockLimits.movingDriveMs }
    : { ...wait('the position is too old for this speed'), warns: true };
}

/** What only an automatic cut must wait for: no panic, no position that was doubtful lately (rule 12). */
function decideAutomatic(evidence: Evidence, rules: InterlockRules): Verdict {
  const { panic, nowMs } = evidence;
  if (!rules.zoneCuts) return wait('automatic cuts are switched off');
  if (panic.value === true) return wait('panic is active');
  const calmMs = heldMs(panic, false, nowMs) ?? (rules.isPanicFitted ? 0 : Number.POSITIVE_INFINITY);
  if (calmMs < interlockLimits.panicCalmMs) return wait('panic was active or unknown lately');
  return evidence.wasSuspect === true ? wait('the position was suspect lately') : go;
}

function decideCut(evidence: Evidence, rules: InterlockRules, isAutomatic: boolean): Verdict {
  const { ignition } = evidence;
  if (ignition.value === null) return wait('ignition is unknown');
  const hasMode = rules.cutMode !== 'ignition_off' && !isAutomatic;
  if (ignition.value && !hasMode) return wait('ignition is on');
  const calm = isAutomatic ? decideAutomatic(evidence, rules) : go;
  if (!calm.go) return calm;
  return ignition.value ? decideIgnitionOn(evidence, rules) : decideIgnitionOff(evidence, rules);
}

/** Slow, believed, and inside a zone that allows it: the gate of a depot. */
function isInUnlockZone(evidence: Evidence, rules: InterlockRules): boolean {
  const { speed } = evidence;
  if (!rules.unlockZones || evidence.zone !== true || speed.kind === 'unknown') return false;
  return speed.kind === 'standing' || speed.speedKmh < interlockLimits.ceilingKmh;
}

function decideUnlock(evidence: Evidence, rules: InterlockRules): Verdict {
  if (isInUnlockZone(evidence, rules)) return go;
  const proven = standstill(evidence, rules);
  if (proven.go || evidence.speed.kind !== 'unknown' || evidence.motion.value === true) return proven;
  return standstillWithoutFix(evidence, rules, false).go ? go : proven;
}

/**
 * Decides one relay change that a command asks for. Restoring the engine and locking the cargo have no interlock.
 * For the others everything must be proven, the board alive and the time known.
 */
export function decideChange(
  change: RelayChange,
  evidence: Evidence,
  rules: InterlockRules = standardRules,
): Verdict {
  if (isSafeState(change.feature, change.state)) return go;
  if (!evidence.boardAlive) return wait('the I/O board is silent');
  if (evidence.trustedUtcMs === null) return wait('the time is unknown, so expiry cannot be judged');
  const rate = changeRate(change, evidence.trustedUtcMs);
  if (!rate.go) return rate;
  return change.feature === 'enginecutoff'
    ? decideCut(evidence, rules, change.isAutomatic === true)
    : decideUnlock(evidence, rules);
}

/**
 * What speaks against a restrictive change at this moment, in words; null when nothing does.
 * @param by the rules that it was decided by; without them (a repair) it is prevent-start.
 */
export function contradiction(
  feature: FeatureName,
  evidence: Evidence,
  by?: { readonly rules: InterlockRules; readonly isAutomatic: boolean },
): string | null {
  const { ignition, motion, speed } = evidence;
  const hasMode = by !== undefined && by.rules.cutMode !== 'ignition_off' && !by.isAutomatic;
  if (feature === 'enginecutoff' && ignition.value === true && hasMode) {
    const verdict = isWarnedAndSlow(evidence, by.rules);
    return verdict.go ? null : verdict.waiting;
  }
  if (feature === 'enginecutoff' && ignition.value !== false)
    return ignition.value === null ? 'ignition is unknown' : 'ignition is on';
  // What was decided by a key that was on does not hold for one that went off since: its warning is over.
  const offMs = evidence.nowMs - ignition.sinceMs;
  if (feature === 'enginecutoff' && by !== undefined && offMs < by.rules.ignitionOffMs)
    return 'ignition changed just now';
  if (feature === 'enginecutoff' && by?.isAutomatic === true && evidence.panic.value === true)
    return 'panic is active';
  if (feature === 'cargoaccess' && by !== undefined && isInUnlockZone(evidence, by.rules)) return null;
  if (motion.value === true) return 'the motion sensor reports movement';
  return speed.kind === 'moving' ? `the vehicle moves at ${speed.speedKmh.toFixed(0)} km/h` : null;
}

/**
 * Decides whether a confirmed cut may be written again after the relay fell off (rules 9 and 10). It was proven safe
 * when it was confirmed, so ignition off and nothing that speaks for movement will do, at once; but not once ignition
 * was on or the vehicle moved without the relay: then it may be on the road, and all is to be proven anew. In every mode
 * this is prevent-start: nobody asked for it now, so it never meets a running engine.
 */
export function decideReapply(
  evidence: Evidence,
  hasDriven: boolean,
  rules: InterlockRules = standardRules,
): Verdict {
  if (hasDriven) return decideCut(evidence, { ...rules, cutMode: 'ignition_off' }, false);
  const against = contradiction('enginecutoff', evidence);
  return against === null ? go : wait(against);
}
