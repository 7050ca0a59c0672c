// The safety interlock: may this relay change happen now? One function for every change away from the safe state:
// commands, re-applied cuts, cargo, geozones and timers. Pure and total; the outcome is data, and an unknown value
// waits. The installer's choices (`protection.ts`) can only make it stricter or select a mode; no message reaches it.
import type { FeatureName, FeatureState } from '../../../src/core/events/event.ts';
import { isAllowed, type RuleFinding, type Verdict, verdictOf } from '../../../src/core/verdict/verdict.ts';
import { evidenceLimits, isBlind } from '../evidence/evidence-state.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import type { Evidence } from '../evidence/testimony.ts';
import { type InterlockRules, interlockLimits, standardRules } from './interlock-rules.ts';
import { found, lasting, seconds } from './rule-findings.ts';
import { keys, ofVehicle, witnessRules } from './witness-rules.ts';

/**
 * Reason of a change. `command`: an operator's command. `automatic`: a geozone or timer. `reapply`: a confirmed cut
 * fell off. `attended`: the doctor's relay test, confirmed by a person at the vehicle; no credit of witnesses is
 * required.
 */
export type Occasion = 'command' | 'automatic' | 'reapply' | 'attended';

export interface RelayChange {
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly occasion: Occasion;
  /** UTC ms of earlier changes of this relay, newest last. */
  readonly changesUtcMs?: readonly number[];
  /** When it last changed in this run, monotonic; null: it has not. */
  readonly changedMs?: number | null;
  /** A person asked again although too many changes were the reason to wait (rule 11). */
  readonly isReconfirmed?: boolean;
  /** The command arrived before the last restart: its age was not measured without a break. */
  readonly isInherited?: boolean;
  /**
   * The order is on its way: rules checked once before it (rates, time, the board's last answer) are not checked
   * again.
   */
  readonly isOnTheWay?: boolean;
  /** Only asked, and nothing follows: the age of the newest fix is not checked. */
  readonly isRehearsal?: boolean;
}

/** Engine enabled and cargo locked are the safe states: the relay is de-energised. */
export function isSafeState(_feature: FeatureName, state: FeatureState): boolean {
  return state === '0';
}

/** How soon an order must be on the wire, ms: one to a restrictive state at once, as what was proven is about this moment only. */
export const orderWithinMs = (
  { feature, state }: Pick<RelayChange, 'feature' | 'state'>,
  usualMs: number,
): number => (isSafeState(feature, state) ? usualMs : Math.min(usualMs, interlockLimits.promptDriveMs));

/** Board, time and unrest of the relay. */
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

/** What only an automatic cut must wait for: no panic, no position that was doubtful recently (rule 12). */
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

/** No reading may speak for movement: not the motion input (contradicted or not), a moving position or a fresh speed of the bus. */
function movementRules({ gnss, witnesses, bus }: Evidence): readonly RuleFinding[] {
  const { motion } = witnesses;
  const isActive = motion.claim === 'active';
  const by = isActive ? 'motion' : bus?.isMoving === true ? 'bus' : 'none';
  const { standstillKmh } = gnssLimits;
  // An estimate proves no standstill, and is a good reason to wait.
  const speedKmh = gnss.kind === 'moving' ? gnss.speedKmh : gnss.kind === 'unknown' ? (gnss.saidKmh ?? 0) : 0;
  const value = Math.round(speedKmh * 10) / 10;
  const speed = found('speed_kmh', { isMet: false, value, needed: standstillKmh });
  return [
    ...(speedKmh > standstillKmh ? [speed] : []),
    found('no_movement', { isMet: by === 'none', value: by, needed: 'none' }),
  ];
}

function engineRule({ witnesses, bus }: Evidence): RuleFinding {
  // Both are contradicted for having read rest on the road: what speaks again is heeded.
  const witness = (['rpm', 'voltage'] as const).find((name) => witnesses[name].claim === 'active');
  const by = witness ?? (bus?.isEngineRunning === true ? 'bus' : 'none');
  return found('engine_at_rest', { isMet: by === 'none', value: by, needed: 'none' });
}

/**
 * How long the key has been off where no position shows the standstill, ms: over short losses of samples, as a board that answers late now
 * and then would keep a vehicle in a garage from being cut for ever. The last of it must be read without a loss.
 */
function offForMs({ ignition, offSinceMs, nowMs }: Evidence): number | null {
  if (ignition.value !== false) return null;
  const unbrokenMs = nowMs - ignition.sinceMs;
  return unbrokenMs < interlockLimits.ignitionOffMs ? unbrokenMs : nowMs - (offSinceMs ?? ignition.sinceMs);
}

/** Without a position: the motion input shows it. */
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

/** Whether the receiver shows standstill, for at least `leastMs`. */
function standstillByReceiver({ gnss, nowMs }: Evidence, leastMs: number): readonly RuleFinding[] {
  const isStill = gnss.kind === 'still';
  const value = isStill ? 'gnss' : gnss.kind === 'moving' ? 'moving' : gnss.fault;
  const rule = found('standstill', { isMet: isStill, value, needed: 'proven' });
  if (isStill) return [rule, lasting('standstill_s', gnss.forMs, leastMs, nowMs)];
  const heldMs = gnss.kind === 'unknown' ? gnss.heldMs : undefined;
  return heldMs === undefined ? [rule] : [rule, lasting('standstill_s', heldMs, gnssLimits.holdMs, nowMs)];
}

/** How standstill is shown: by the receiver, or by the motion input where there is truly no position. */
function standstillRules(evidence: Evidence, rules: InterlockRules): readonly RuleFinding[] {
  const { gnss } = evidence;
  // Only a receiver that gives no position at all is left out; one that gives a bad one is waited for.
  return isBlind(gnss)
    ? standstillWithoutPosition(evidence, rules, gnss.fault)
    : standstillByReceiver(evidence, rules.standstillMs);
}

const keyReading = ({ value }: Evidence['ignition']): 'on' | 'off' | 'unknown' =>
  value === null ? 'unknown' : value ? 'on' : 'off';

/** Why an ignition that reads off does not count; null when it does. */
function ignitionDoubt({
  ignitionSuspension,
  witnesses,
}: Evidence): 'suspended' | 'unsteady' | 'contradicted' | null {
  if (witnesses.ignition.state === 'contradicted') return 'contradicted';
  if (ignitionSuspension === null) return null;
  return ignitionSuspension === 'chatter' ? 'unsteady' : 'suspended';
}

/** The key is off, and has been for long enough. */
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
 * The doctor's test: a person sees that the vehicle stands, and nothing may speak against it. What they may err in is the key: it must be seen
 * turned off in this run, as a dead wire reads off too.
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

/** Cargo opens with the key off; with the key on, or unknown, where receiver and motion input agree. */
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

/** No input that a decision rests on was asked for longer ago, ms, nor before this process was last held up. */
export const inputAgeMostMs = ({ nowMs, heldUpMs }: Pick<Evidence, 'nowMs' | 'heldUpMs'>): number =>
  Math.min(interlockLimits.inputAgeMs, nowMs - heldUpMs);

/**
 * What is decided on was read just now, and this process was not held up since: the inputs, and the fix where a receiver shows the standstill. That
 * fix is no faster than those just before: a receiver that smooths shows little of a vehicle that pulls away, but that little rises.
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

/** A moment of this run as UTC, so that it means something outside of it; null while the time is not known. */
function inUtc(finding: RuleFinding, { nowMs, trustedUtcMs }: Evidence): RuleFinding {
  const { rule, isMet, value, needed, sinceMs } = finding;
  if (sinceMs === null) return finding;
  const utcMs = trustedUtcMs === null ? null : Math.round(trustedUtcMs - (nowMs - sinceMs));
  return { rule, isMet, value, needed, sinceMs: utcMs };
}

/**
 * Decides one relay change. Restoring the engine and locking the cargo have no conditions. For everything else all
 * rules must be met; each finding holds the observed value, the needed one, and since when (UTC ms).
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

/** Rules that the next reading of the inputs, or the next fix, will meet. */
const isBrief = (rule: string): boolean =>
  rule === 'input_age_ms' || rule === 'fix_age_ms' || rule === 'rising_kmh';

/** All is proven but what the next reading, or the next fix, decides. */
export const awaitsReading = ({ rules }: Verdict): boolean =>
  rules.every(({ rule, isMet }) => isMet || isBrief(rule));

/** All is proven but the warning, which is to sound now, and until the next fix. */
export function wantsWarningOnly(verdict: Verdict): boolean {
  if (isAllowed(verdict)) return false;
  return verdict.rules.every(
    ({ rule, isMet, value }) =>
      isMet || rule === 'warning_s' || isBrief(rule) || (rule === 'warning_output' && value === 'failed'),
  );
}
