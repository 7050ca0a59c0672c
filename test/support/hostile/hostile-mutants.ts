// Rules of the evidence and of the interlock, each switched off by one replacement in the compiled code. A hostile campaign must find
// every one of them; a rule that can be switched off unseen is either not needed or not tested. Rules that only matter together with a second
// fault (suspensions after a start, a lost board and a common loss; the quiet of a motion input, a fix that goes stale,
// contradictions over lost sentences) are held by `evidence.test.ts`, `contact.test.ts`, `credit.test.ts`, `judge.test.ts` and `gnss-standing.test.ts`.
import type { CutMode } from '../../../agent/core/protection/interlock-rules.ts';

export interface Mutant {
  /** What no longer holds. */
  readonly rule: string;
  /** Compiled file below agent/core, and the text that is replaced in it: it must stand there exactly once. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** A second replacement, where another rule alone would still hold the same hazard back; in the same file when none is named. */
  readonly also?: { readonly file?: string; readonly find: string; readonly put: string };
  /** The first seed to live: one that is known to find it, so that the test is quick. */
  readonly from?: number;
  /** The campaign that finds it; the default mode on plain wiring when absent. */
  readonly mode?: CutMode;
  readonly isPositive?: boolean;
  readonly hasBus?: boolean;
}

const interlock = 'protection/interlock.js';
const gnss = 'evidence/gnss-standing.js';
const gnssClaim = 'evidence/gnss-claim.js';
const credit = 'evidence/credit.js';
const intake = 'protection/command-intake.js';
const witness = 'protection/witness-rules.js';
const evidence = 'evidence/evidence.js';
const evidenceState = 'evidence/evidence-state.js';

const stillRule = "found('standstill', { isMet: isStill, value, needed: 'proven' })";
const pairRule = "pairs.length > 0 && common === 'none'";

/** A fix that is repeated is also held, where its speed is 0. */
const heldFix = {
  find: 'if (state.unheldMs <= restSinceMs || lastGoodMs - state.unheldMs > gnssLimits.unheldMs)',
  put: 'if (false)',
} as const;

/** An engine that runs is the second reason for which a bus refuses a drive. */
const engineOnBus = {
  find: 'const isEngineRunning = isFresh(reading.view.engine, nowMs);',
  put: 'const isEngineRunning = false;',
} as const;

export const mutants: readonly Mutant[] = [
  {
    rule: 'ignition must read off',
    from: 324,
    file: interlock,
    find: 'const isOff = ignition.value === false && doubt === null;',
    put: 'const isOff = true;',
  },
  {
    rule: 'a motion input that is active vetoes',
    from: 1669,
    file: interlock,
    find: "const isActive = motion.claim === 'active';",
    put: 'const isActive = false;',
  },
  {
    rule: 'an engine that turns or charges vetoes',
    from: 25_438,
    file: interlock,
    find: ".find((name) => witnesses[name].claim === 'active');",
    put: '.find(() => false);',
  },
  {
    rule: 'standstill must be proven',
    from: 179,
    file: interlock,
    find: stillRule,
    put: stillRule.replace('isMet: isStill', 'isMet: true'),
    also: { file: witness, find: pairRule, put: 'true' },
  },
  {
    rule: 'without a position a proven, quiet motion input is needed',
    from: 25,
    file: interlock,
    find: 'const isQuiet = isProven && restForMs !== null && restForMs >= quietMs;',
    put: 'const isQuiet = true;',
    also: { file: witness, find: pairRule, put: 'agreeing.length >= 1' },
  },
  {
    rule: 'two witnesses must agree',
    from: 1028,
    file: witness,
    find: pairRule,
    put: 'agreeing.length >= 1',
  },
  {
    rule: 'a witness counts only when it is proven',
    from: 786,
    file: witness,
    find: "witnesses[name].state === 'proven' && witnesses[name].claim === 'rest'",
    put: "witnesses[name].claim === 'rest'",
  },
  {
    rule: 'a witness counts only when it says "at rest"',
    from: 1028,
    file: witness,
    find: "witnesses[name].state === 'proven' && witnesses[name].claim === 'rest'",
    put: "witnesses[name].state === 'proven'",
  },
  {
    rule: 'automatic cuts need permission',
    from: 313,
    file: interlock,
    find: 'isMet: rules.zoneCuts,',
    put: 'isMet: true,',
    also: { file: intake, find: 'return !isCut || draft.state.rules.zoneCuts;', put: 'return true;' },
  },
  {
    rule: 'automatic cuts wait after panic',
    from: 461,
    file: interlock,
    find: "lasting('panic_calm_s', calmMs, interlockLimits.panicCalmMs, nowMs)",
    put: "lasting('panic_calm_s', 1e9, interlockLimits.panicCalmMs, nowMs)",
  },
  {
    rule: 'a relay rests between two changes',
    from: 109,
    file: interlock,
    find: 'isMet: newestMs === null || newestMs >= betweenChangesMs,',
    put: 'isMet: true,',
  },
  {
    rule: 'with ignition on the vehicle must be proven to stand',
    from: 26,
    file: interlock,
    find: stillRule,
    put: stillRule.replace('isMet: isStill', 'isMet: true'),
    also: { file: witness, find: pairRule, put: 'true' },
    mode: 'at_standstill',
  },
  {
    rule: 'with ignition on a warning sounds first',
    from: 93,
    file: interlock,
    find: "lasting('warning_s', soundsMs, rules.warningMs, nowMs)",
    put: "lasting('warning_s', 1e9, rules.warningMs, nowMs)",
    mode: 'at_standstill',
  },
  {
    rule: 'a command ends with its life, by the time that has passed',
    from: 8175,
    file: intake,
    find: 'const endMs = evidence.nowMs + Math.max(',
    put: 'const endMs = evidence.nowMs + 1e9 + Math.max(',
  },
  {
    rule: 'the end of a command on disk follows a clock that was set back',
    from: 5588,
    isPositive: true,
    file: intake,
    find: 'return isSetBack ?',
    put: 'return false ?',
  },
  {
    rule: 'a command of an earlier run needs a confirmed time',
    from: 1257,
    isPositive: true,
    file: interlock,
    find: 'const isUnconfirmed = change.isInherited === true && !isTimeConfirmed;',
    put: 'const isUnconfirmed = false;',
  },
  {
    rule: 'no clock behind the newest confirmed time is believed',
    from: 193,
    file: 'timekeeping.js',
    find: 'if (state.newestUtcMs !== null && originMs < state.newestUtcMs - timeLimits.toleranceMs)',
    put: 'if (false)',
  },
  {
    rule: 'a speed above the limit is movement',
    from: 5,
    file: gnssClaim,
    find: 'if (speedKmh > gnssLimits.standstillKmh) {',
    put: 'if (false) {',
  },
  {
    rule: 'a position that moves on is no standstill, whatever the Doppler speed says',
    from: 3301,
    file: 'evidence/position-drift.js',
    find: 'isAway: isFar && slopeMs > driftMs && slopeMs > errorMs',
    put: 'isAway: false',
  },
  {
    rule: 'a fix of which the speed is lost does not show that the receiver does not hold its place',
    from: 134_001_515,
    file: 'evidence/fix-age.js',
    find: '((b.speedKmh === null || b.speedKmh === 0) && isSamePlace(a, b))',
    put: '(b.speedKmh === 0 && isSamePlace(a, b))',
  },
  {
    rule: 'a sudden stop is not an observed one',
    from: 1910,
    file: gnss,
    find: '(moved >= 3 || (isFromStop && moved >= 1)) && slow >= 1 && !isSudden',
    put: 'true',
  },
  {
    rule: 'a place must be held for a minute when no stop was observed',
    from: 331,
    file: gnssClaim,
    find: 'return forMs >= gnssLimits.holdMs ?',
    put: 'return true ?',
  },
  {
    rule: 'a fix that never varies proves nothing',
    from: 209,
    file: gnssClaim,
    find: 'nowMs - state.variedMs > gnssLimits.variedMs',
    put: 'false',
    also: heldFix,
  },
  {
    rule: 'a contradiction takes the credit away',
    from: 5,
    file: credit,
    find: "if (credits[witness]?.kind !== 'contradicted')",
    put: 'if (false)',
    also: {
      file: evidence,
      find: "hasOpposedAtRest(state.credit, 'ignition', evidenceLimits.drivenMs)",
      put: 'false',
    },
  },
  {
    rule: 'what can fail together is one key',
    from: 1028,
    file: 'evidence/common-causes.js',
    find: 'return a.filter((cause) => b.some((other) => faultOf(other) === faultOf(cause)));',
    put: 'return [];',
  },
  {
    rule: 'a board that does not answer its loop-back may repeat old values',
    from: 13,
    file: 'evidence/evidence-state.js',
    find: 'return answering.length === 0\n        ? causes[name]',
    put: "return answering.length === 0\n        ? causes[name].filter((cause) => !cause.startsWith('board:'))",
    isPositive: true,
  },
  {
    rule: 'a fix of an earlier moment says nothing',
    from: 259,
    file: gnss,
    find: "return isLate(state.soonest, fix, now) ? 'fix_late' : null;",
    put: 'return null;',
  },
  {
    rule: 'another wiring voids the credit',
    from: 200,
    file: 'evidence/evidence-record.js',
    find: "value['wiring'] === wiring",
    put: 'true',
  },
  {
    rule: 'rest from before a dip of the supply counts no more',
    from: 214,
    file: evidence,
    find: 'if (pause !== null && (!isProven || isOneDip(pause, { fromMs: fellMs, toMs: fellMs })))',
    put: 'if (false)',
  },
  {
    rule: 'one missing fix beside a silent board is a dip of the supply',
    from: 132,
    file: evidence,
    find: 'if (gap !== null && silence !== null && isOneDip(gap, silence))',
    put: 'if (false)',
  },
  {
    rule: 'a receiver of which nothing was read since the run began was interrupted',
    from: 400_201_554,
    file: 'evidence/fix-age.js',
    find: 'if (lostMs <= gapIntervals * everyMs)',
    put: 'if (before.epochUtcMs === null || lostMs <= gapIntervals * everyMs)',
  },
  {
    rule: 'an ignition that was never proven shows no dip of the supply',
    from: 214,
    file: evidence,
    find: '(!isProven || isOneDip(',
    put: '(isOneDip(',
  },
  {
    rule: 'an ignition that was read as on for a moment has fallen when it was last read so',
    from: 906,
    file: 'evidence/contact.js',
    find: 'if (seen.sinceMs < sensed.sinceMs)',
    put: 'if (false)',
    mode: 'at_standstill',
  },
  {
    rule: 'a speed on the bus vetoes',
    from: 87,
    file: 'bus/bus-veto.js',
    find: 'const isMoving = isFresh(reading.view.movement, nowMs);',
    put: 'const isMoving = false;',
    also: engineOnBus,
    hasBus: true,
  },
  {
    rule: 'an engine that runs on the bus vetoes',
    from: 225,
    file: 'bus/bus-veto.js',
    ...engineOnBus,
    hasBus: true,
  },
  {
    rule: 'a fix that a receiver holds at speed 0 shows no rest',
    from: 209,
    file: gnssClaim,
    ...heldFix,
  },
  {
    rule: 'inputs that fall together count no more, with a life input too',
    from: 12,
    file: 'evidence/contact.js',
    find: "contact.isLive && lost === 'supply'",
    put: 'contact.isLive',
    isPositive: true,
  },
  {
    rule: 'inputs that fall in one moment have fallen together, whatever their debounces',
    from: 600_000_808,
    file: 'evidence/contact.js',
    find: 'return { fellMs: seen.sinceMs, fellAfterMs: seen.afterMs ?? seen.sinceMs };',
    put: 'return { fellMs: Math.max(seen.sinceMs, activeMs), fellAfterMs: Math.max(seen.sinceMs, activeMs) };',
    mode: 'at_standstill',
    isPositive: true,
  },
  {
    rule: 'inputs whose samples cannot tell their falls apart have fallen together',
    from: 600_000_497,
    file: 'evidence/contact.js',
    find: 'Math.max(a.fellAfterMs, b.fellAfterMs) - Math.min(a.fellMs, b.fellMs)',
    put: 'Math.abs(a.fellMs - b.fellMs)',
    mode: 'at_standstill',
    isPositive: true,
  },
  {
    rule: 'a unit that was just switched on takes no rest from before',
    file: evidenceState,
    find: 'isLive ? Number.NEGATIVE_INFINITY : poweredMs',
    put: 'Number.NEGATIVE_INFINITY',
  },
  {
    rule: 'a live contact proves nothing after a start on the road',
    file: 'evidence/contact.js',
    find: "isLive && isParked ? null : 'start'",
    put: "isLive ? null : 'start'",
    isPositive: true,
  },
];
