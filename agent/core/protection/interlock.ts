// The safety interlock: may this relay change happen now? One function for every change away from the safe state: commands, re-applied cuts, cargo,
// geozones and timers. Pure and total: the outcome is data, and an unknown value waits. The installer's choices (`protection.ts`) can only make it
// stricter or select a mode; no message reaches it.
import type { FeatureName, FeatureState } from '../../../src/core/events/event.ts';
import { isAllowed, type RuleFinding, type Verdict, verdictOf } from '../../../src/core/verdict/verdict.ts';
import { evidenceLimits, isBlind } from '../evidence/evidence-state.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import type { Evidence } from '../evidence/testimony.ts';
import { type InterlockRules, interlockLimits, standardRules } from './interlock-rules.ts';
import { found, lasting, seconds } from './rule-findings.ts';
import { keys, ofVehicle, witnessRules } from './witness-rules.ts';

/**
 * Reason of a change. `command`: an operator's command. `automatic`: a geozone or timer. `reapply`: a confirmed cut fell off. `attended`: the
 * doctor's relay test, confirmed by a person at the vehicle, which needs no credit of witnesses.
 */
export type Occasion = 'command' | 'automatic' | 'reapply' | 'attended';

export interface RelayChange {
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly occasion: Occasion;
  /** UTC ms of earlier changes of this relay, newest last. */
  readonly changesUtcMs?: readonly number[];
  /** Monotonic time of its last change in this run, ms; null: none. */
  readonly changedMs?: number | null;
  /** A person asked again although too many changes were the reason to wait (rule 11). */
  readonly isReconfirmed?: boolean;
  /** The command arrived before the last restart, so its age was not measured without a break. */
  readonly isInherited?: boolean;
  /** The order is on its way. Rules that were checked once before it (rates, time, the board's last answer, ages) are not checked again. */
  readonly isOnTheWay?: boolean;
  /** A question without consequence: the age rules are not checked. */
  readonly isRehearsal?: boolean;
}

/** Engine enabled and cargo locked are the safe states: the relay is de-energised. */
export function isSafeState(_feature: FeatureName, state: FeatureState): boolean {
  return state === '0';
}

/** Time within which an order must be on the wire, ms. It is short for a restrictive state, because the proof holds for this moment only. */
export const orderWithinMs = (
  { feature, state }: Pick<RelayChange, 'feature' | 'state'>,
  usualMs: number,
): number => (isSafeState(feature, state) ? usualMs : Math.min(usualMs, interlockLimits.promptDriveMs));

/** Rules on the board, the time and the rate of changes. */
function preconditions(change: RelayChange, evidence: Evidence): readonly RuleFinding[] {
  const { boardAlive, trustedUtcMs, isTimeBehind, isTimeConfirmed } = evidence;
  const board = found('board_alive', {
    isMet: boardAlive,
    value: boardAlive ? 'answers' : 'silent',
    needed: 'answers',
  });
  if (change.occasion === 'attended' || change.occasion === 'reapply') return [board];
  const isUnconfirmed = change.isInherited === true && !isTimeConfirmed;
  const isKnown = trustedUtcMs !== null && !isUnconfirmed;
  const fault = isTimeBehind ? 'behind' : trustedUtcMs === null ? 'unknown' : 'unconfirmed';
  const time = found('time_known', { isMet: isKnown, value: isKnown ? 'known' : fault, needed: 'known' });
  return [board, time, ...(trustedUtcMs === null ? [] : changeRate(change, evidence.nowMs, trustedUtcMs))];
}

function changeRate(change: RelayChange, nowMs: number, nowUtcMs: number): readonly RuleFinding[] {
  const { betweenChangesMs, changesPerHour } = interlockLimits;
  // A change slightly in the future counts as just now; one far ahead was stamped by a wrong clock.
  const ages = (change.changesUtcMs ?? [])
    .filter((utcMs) => utcMs - nowUtcMs < 3_600_000)
    .map((utcMs) => Math.max(0, nowUtcMs - utcMs));
  const own = change.changedMs === undefined || change.changedMs === null ? [] : [nowMs - change.changedMs];
  const newestMs = ages.length + own.length === 0 ? null : Math.min(...ages, ...own);
  const lastHour = ages.filter((ageMs) => ageMs < 3_600_000).length;
  return [
    found('change_interval_s', {
      isMet: newestMs === null || newestMs >= betweenChangesMs,
      value: newestMs === null ? null : seconds(newestMs),
      needed: seconds(betweenChangesMs),
    }),
    found('changes_per_hour', {
      isMet: lastHour < changesPerHour || change.isReconfirmed === true,
      value: lastHour,
      needed: changesPerHour,
    }),
  ];
}

const sinceSuspectMs = ({ suspectMs, nowMs }: Evidence): number | null =>
  suspectMs === null ? null : nowMs - suspectMs;

function trustedPosition(evidence: Evidence): RuleFinding {
  const agoMs = sinceSuspectMs(evidence);
  return lasting(
    'position_trusted_s',
    agoMs ?? Number.POSITIVE_INFINITY,
    gnssLimits.suspectMs,
    evidence.nowMs,
  );
}

/** Rules for automatic cuts only: no panic, and no recent doubtful position (rule 12). */
function automaticRules(evidence: Evidence, rules: InterlockRules): readonly RuleFinding[] {
  const { panic, nowMs } = evidence;
  const calmMs =
    panic.value === false
      ? nowMs - panic.sinceMs
      : panic.value === null && !rules.isPanicFitted
        ? Number.POSITIVE_INFINITY
        : null;
  return [
    found('automation_enabled', { isMet: rules.zoneCuts, value: rules.zoneCuts, needed: true }),
    lasting('panic_calm_s', calmMs, interlockLimits.panicCalmMs, nowMs),
    trustedPosition(evidence),
  ];
}

/** No reading may show movement: neither the motion input (contradicted or not), nor a moving position, nor a fresh speed on the bus. */
function movementRules({ gnss, witnesses, bus }: Evidence): readonly RuleFinding[] {
  const { motion } = witnesses;
  const isActive = motion.claim === 'active';
  const by = isActive ? 'motion' : bus?.isMoving === true ? 'bus' : 'none';
  const { standstillKmh } = gnssLimits;
  // An estimate proves no standstill, but is a good reason to wait.
  const speedKmh = gnss.kind === 'moving' ? gnss.speedKmh : gnss.kind === 'unknown' ? (gnss.saidKmh ?? 0) : 0;
  const value = Math.round(speedKmh * 10) / 10;
  const speed = found('speed_kmh', { isMet: false, value, needed: standstillKmh });
  return [
    ...(speedKmh > standstillKmh ? [speed] : []),
    found('no_movement', { isMet: by === 'none', value: by, needed: 'none' }),
  ];
}

function engineRule({ witnesses, bus }: Evidence): RuleFinding {
  // Counts a contradicted witness too: it read rest on the road, and now it shows a running engine.
  const witness = (['rpm', 'voltage'] as const).find((name) => witnesses[name].claim === 'active');
  const by = witness ?? (bus?.isEngineRunning === true ? 'bus' : 'none');
  return found('engine_at_rest', { isMet: by === 'none', value: by, needed: 'none' });
}

/**
 * Time for which the key has been off without a position that shows standstill, ms. Short losses of samples do not interrupt it: otherwise a board
 * that sometimes answers late would prevent a cut in a garage for ever. The last `ignitionOffMs` must be read without a loss.
 */
function offForMs({ ignition, offSinceMs, nowMs }: Evidence): number | null {
  if (ignition.value !== false) return null;
  const unbrokenMs = nowMs - ignition.sinceMs;
  return unbrokenMs < interlockLimits.ignitionOffMs ? unbrokenMs : nowMs - (offSinceMs ?? ignition.sinceMs);
}

/** Standstill without a position: the motion input must show it. */
function standstillWithoutPosition(
  evidence: Evidence,
  rules: InterlockRules,
  fault: string,
): readonly RuleFinding[] {
  const { witnesses, nowMs } = evidence;
  const isAllowedWithout = rules.noGnss === 'ignition_off_only';
  const policy = found('no_position_allowed', {
    isMet: isAllowedWithout,
    value: isAllowedWithout,
    needed: true,
  });
  const { state, restForMs } = witnesses.motion;
  const isProven = state === 'proven';
  const quietMs = Math.max(evidenceLimits.quietMs, rules.standstillMs);
  const isQuiet = isProven && restForMs !== null && restForMs >= quietMs;
  const lacking = isProven ? 'motion_quiet_s' : state === 'absent' ? fault : 'motion_unproven';
  const value = isQuiet ? 'motion' : lacking;
  return [
    policy,
    found('standstill', { isMet: isQuiet, value, needed: 'proven' }),
    trustedPosition(evidence),
    lasting('ignition_off_s', offForMs(evidence), rules.ignitionOffNoFixMs, nowMs),
  ];
}

/** Standstill by the receiver, for at least `leastMs`. */
function standstillByReceiver({ gnss, nowMs }: Evidence, leastMs: number): readonly RuleFinding[] {
  const isStill = gnss.kind === 'still';
  const value = isStill ? 'gnss' : gnss.kind === 'moving' ? 'moving' : gnss.fault;
  const rule = found('standstill', { isMet: isStill, value, needed: 'proven' });
  if (isStill) return [rule, lasting('standstill_s', gnss.forMs, leastMs, nowMs)];
  const heldMs = gnss.kind === 'unknown' ? gnss.heldMs : undefined;
  return heldMs === undefined ? [rule] : [rule, lasting('standstill_s', heldMs, gnssLimits.holdMs, nowMs)];
}

/** Standstill by the receiver, or by the motion input if there is truly no position. */
function standstillRules(evidence: Evidence, rules: InterlockRules): readonly RuleFinding[] {
  const { gnss } = evidence;
  // Only a receiver without any position is left out; a bad position is waited for.
  return isBlind(gnss)
    ? standstillWithoutPosition(evidence, rules, gnss.fault)
    : standstillByReceiver(evidence, rules.standstillMs);
}

const keyReading = ({ value }: Evidence['ignition']): 'on' | 'off' | 'unknown' =>
  value === null ? 'unknown' : value ? 'on' : 'off';

/** Reason why an ignition that reads off does not count; null: it counts. */
function ignitionDoubt({
  ignitionSuspension,
  witnesses,
}: Evidence): 'suspended' | 'unsteady' | 'contradicted' | null {
  if (witnesses.ignition.state === 'contradicted') return 'contradicted';
  if (ignitionSuspension === null) return null;
  return ignitionSuspension === 'chatter' ? 'unsteady' : 'suspended';
}

/** The key must be off for long enough. */
function ignitionRules(evidence: Evidence, offMs: number): readonly RuleFinding[] {
  const { ignition, nowMs } = evidence;
  const doubt = ignitionDoubt(evidence);
  const isOff = ignition.value === false && doubt === null;
  const value = ignition.value === false && doubt !== null ? doubt : keyReading(ignition);
  const forMs = ignition.value === false ? nowMs - ignition.sinceMs : null;
  return [
    found('ignition_off', { isMet: isOff, value, needed: 'off', sinceMs: ignition.sinceMs }),
    ...(forMs === null ? [] : [lasting('ignition_off_s', forMs, offMs, nowMs)]),
  ];
}

/** Prevent start: ignition off, standstill, no evidence against either, and two witnesses. */
function preventStart(
  change: RelayChange,
  evidence: Evidence,
  rules: InterlockRules,
): readonly RuleFinding[] {
  const { drive, nowMs } = evidence;
  const hasStood = drive.state === 'standing' && nowMs - drive.sinceMs >= interlockLimits.settledMs;
  const offMs =
    change.occasion === 'reapply' && hasStood ? interlockLimits.reapplyOffMs : rules.ignitionOffMs;
  const standstill = standstillRules(evidence, rules);
  return [
    ...ignitionRules(evidence, offMs),
    ...movementRules(evidence),
    engineRule(evidence),
    ...standstill,
    ...witnessRules(evidence, { names: keys, needsEngine: rules.canStopEngine, offMs }),
  ];
}

/** With ignition on: two keys about the vehicle itself, and a warning before (rule 13). */
function withIgnitionOn(evidence: Evidence, rules: InterlockRules): readonly RuleFinding[] {
  const { ignition, nowMs, warning } = evidence;
  const output = warning === undefined ? 'absent' : warning.hasFault ? 'failed' : 'works';
  const soundsMs = Math.min(warning?.soundsForMs ?? 0, nowMs - ignition.sinceMs);
  return [
    ...movementRules(evidence),
    ...standstillByReceiver(evidence, rules.standstillMs),
    ...witnessRules(evidence, { names: ofVehicle, needsEngine: false, offMs: 0 }),
    trustedPosition(evidence),
    found('warning_output', { isMet: output === 'works', value: output, needed: 'works' }),
    lasting('warning_s', soundsMs, rules.warningMs, nowMs),
  ];
}

/**
 * The doctor's test: a person sees that the vehicle stands, and nothing may contradict it. The person may be wrong about the key. A dead wire reads
 * off too, so the key must be seen turned off in this run.
 */
function attendedRules(evidence: Evidence, rules: InterlockRules): readonly RuleFinding[] {
  const hasFix = !isBlind(evidence.gnss);
  return [
    ...ignitionRules(evidence, hasFix ? rules.ignitionOffMs : rules.ignitionOffNoFixMs),
    ...movementRules(evidence),
    engineRule(evidence),
    ...(hasFix ? standstillByReceiver(evidence, 0) : []),
  ];
}

function cutRules(change: RelayChange, evidence: Evidence, rules: InterlockRules): readonly RuleFinding[] {
  if (change.occasion === 'attended') return attendedRules(evidence, rules);
  const automatic = change.occasion === 'automatic' ? automaticRules(evidence, rules) : [];
  const meetsRunning = rules.cutMode === 'at_standstill' && change.occasion === 'command';
  return meetsRunning && evidence.ignition.value === true
    ? withIgnitionOn(evidence, rules)
    : [...automatic, ...preventStart(change, evidence, rules)];
}

/** Cargo opens with the key off. With the key on or unknown, receiver and motion input must agree. */
function unlockRules(change: RelayChange, evidence: Evidence, rules: InterlockRules): readonly RuleFinding[] {
  if (change.occasion === 'attended') return attendedRules(evidence, rules);
  const isOff = evidence.ignition.value === false && ignitionDoubt(evidence) === null;
  const offMs = rules.ignitionOffMs;
  if (!isOff && evidence.witnesses.motion.state === 'proven')
    return [
      ...movementRules(evidence),
      ...standstillByReceiver(evidence, rules.standstillMs),
      ...witnessRules(evidence, { names: ofVehicle, needsEngine: false, offMs }),
    ];
  return [
    ...movementRules(evidence),
    ...ignitionRules(evidence, offMs),
    ...standstillRules(evidence, rules),
    ...witnessRules(evidence, { names: keys, needsEngine: false, offMs }),
  ];
}

/** Maximum age of the request for an input, ms: the limit, or the time since this process was last held up. */
export const inputAgeMostMs = ({ nowMs, heldUpMs }: Pick<Evidence, 'nowMs' | 'heldUpMs'>): number =>
  Math.min(interlockLimits.inputAgeMs, nowMs - heldUpMs);

/**
 * The inputs, and the fix if a receiver shows the standstill, must have been read just now without a hold-up since. The fix must not be faster than
 * those just before. A receiver that smooths its speed shows little of a vehicle that pulls away, but that little rises.
 */
function ageRules(evidence: Evidence): readonly RuleFinding[] {
  const { gnss, askedMs, heldUpMs, nowMs } = evidence;
  const age = (rule: 'input_age_ms' | 'fix_age_ms', sinceMs: number, needed: number): RuleFinding =>
    found(rule, { isMet: nowMs - sinceMs <= needed, value: nowMs - sinceMs, needed });
  const { fixAgeMs, unreadMs } = interlockLimits;
  const inputs = age('input_age_ms', askedMs, inputAgeMostMs(evidence));
  if (gnss.kind !== 'still') return [inputs];
  const { arrivedMs, fixMs, speedKmh: value, beforeKmh: needed } = gnss;
  const comeMs = arrivedMs - unreadMs;
  const fix =
    comeMs < heldUpMs ? age('fix_age_ms', comeMs, nowMs - heldUpMs) : age('fix_age_ms', fixMs, fixAgeMs);
  const steady = found('rising_kmh', { isMet: value <= needed, value, needed });
  return [inputs, fix, steady];
}

const nothing: Verdict = verdictOf([]);

/** Converts a monotonic time of this run to UTC, which has a meaning outside of it; null while the time is unknown. */
function inUtc(finding: RuleFinding, { nowMs, trustedUtcMs }: Evidence): RuleFinding {
  const { rule, isMet, value, needed, sinceMs } = finding;
  if (sinceMs === null) return finding;
  const utcMs = trustedUtcMs === null ? null : Math.round(trustedUtcMs - (nowMs - sinceMs));
  return { rule, isMet, value, needed, sinceMs: utcMs };
}

/**
 * Decides one relay change. Restoring the engine and locking the cargo have no conditions. Everything else needs all rules met. Each finding holds
 * the observed value, the needed one, and its start (UTC ms). The age rules come last and apply only once all other rules are met.
 */
export function judge(
  change: RelayChange,
  evidence: Evidence,
  rules: InterlockRules = standardRules,
): Verdict {
  if (isSafeState(change.feature, change.state)) return nothing;
  const first = change.isOnTheWay === true ? [] : preconditions(change, evidence);
  const then = change.feature === 'enginecutoff' ? cutRules : unlockRules;
  const asked = [...first, ...then(change, evidence, rules)];
  const isFollowed = change.isOnTheWay !== true && change.isRehearsal !== true;
  const isOwed = isFollowed && change.occasion !== 'attended' && asked.every(({ isMet }) => isMet);
  const findings = isOwed ? [...asked, ...ageRules(evidence)] : asked;
  return verdictOf(findings.map((finding) => inUtc(finding, evidence)));
}

/** Rules that the next input reading or the next fix can meet. */
const isBrief = (rule: string): boolean =>
  rule === 'input_age_ms' || rule === 'fix_age_ms' || rule === 'rising_kmh';

/** True when only the next reading or the next fix is missing. */
export const awaitsReading = ({ rules }: Verdict): boolean =>
  rules.every(({ rule, isMet }) => isMet || isBrief(rule));

/** True when only the warning is missing. It is to sound now, and until the next fix. */
export function wantsWarningOnly(verdict: Verdict): boolean {
  if (isAllowed(verdict)) return false;
  return verdict.rules.every(
    ({ rule, isMet, value }) =>
      isMet || rule === 'warning_s' || isBrief(rule) || (rule === 'warning_output' && value === 'failed'),
  );
}
