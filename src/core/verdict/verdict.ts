// The outcome of the interlock as data: which rules were checked, which are met, and the observed and needed value of
// each. It is sent with a command's state from the vehicle to the ledger and to apps; `verdict-text.ts` formats it.
// No code may decide anything from that text.
import type { AttributeValue } from '../events/event.ts';

/** Rules of a relay change, in the order in which they are checked; append only. */
export const ruleNames = [
  /** The disk takes what must be on it before a relay moves. Value and needed: `works`, or `failed`. */
  'storage',
  /** The relay follows its orders. Value: how the last order ended. */
  'relay_follows',
  /** The board answered its last read-back. Value and needed: `answers`, or `silent`. */
  'board_alive',
  /** A trusted clock. Value: `known`, or why there is none: `unknown`, `behind`, `unconfirmed`. */
  'time_known',
  /** Seconds since the last change of this relay. */
  'change_interval_s',
  /** Changes of this relay within the last hour; needed: fewer than. */
  'changes_per_hour',
  /** Automatic cuts are switched on by the installer. */
  'automation_enabled',
  /** Seconds since panic was last active or unknown; null while it is. */
  'panic_calm_s',
  /**
   * The key. Value: `on`, `off`, `unknown`, `suspended` (the input must be seen on once before its "off" counts), `unsteady` (switched too often; it
   * counts after a minute of rest), or `contradicted`.
   */
  'ignition_off',
  /** Seconds for which ignition has been off. */
  'ignition_off_s',
  /** No fitted witness speaks for movement, nor does the vehicle bus. Value: the witness that does, `bus`, or `none`. */
  'no_movement',
  /** Speed over ground by a good fix, km/h; needed: at most. */
  'speed_kmh',
  /** No fitted witness speaks for a running engine, nor does the vehicle bus. Value: the witness that does, `bus`, or `none`. */
  'engine_at_rest',
  /** The installer allows a move without a position. */
  'no_position_allowed',
  /** Seconds since a position was last doubtful. */
  'position_trusted_s',
  /** The vehicle is proven to stand. Value: by what, or the reason why it is not. */
  'standstill',
  /** Seconds for which it has been proven to stand. */
  'standstill_s',
  /** Proven, independent witnesses that agree. */
  'witnesses',
  /** One fitted witness, listed where `witnesses` is not met. Value: its state; needed: `proven`. */
  'witness_gnss',
  'witness_motion',
  'witness_ignition',
  'witness_rpm',
  'witness_voltage',
  /** The warning output. Value: `works`, `absent`, `failed`. */
  'warning_output',
  /** Seconds for which the warning has sounded. */
  'warning_s',
  /** What agreeing witnesses have in common, so that one fault explains them all. Value: `contacts`, `board`, or `none`. */
  'common_cause',
  /** Age of the newest fix, ms; needed: at most. Listed last, where all else is met: a decision follows a fix at once. */
  'fix_age_ms',
  /** For how long ignition and motion input were not asked for, ms; needed: at most. Listed where all else is met. */
  'input_age_ms',
  /** Speed of the newest fix, km/h; needed: at most that of the one before it, and of any within the second before. Listed where all else is met. */
  'rising_kmh',
] as const;
export type RuleName = (typeof ruleNames)[number];

/** One rule as it was found. */
export interface RuleFinding {
  /** One of `ruleNames`; a newer vehicle may send others. */
  readonly rule: string;
  readonly isMet: boolean;
  /** What was seen; null = unknown. The unit is the end of the rule's name. */
  readonly value: AttributeValue;
  readonly needed: AttributeValue;
  /** Since when it has been so, UTC ms; null = unknown. */
  readonly sinceMs: number | null;
}

export interface Verdict {
  /** `allowed`, or the first rule that is not met. */
  readonly code: string;
  readonly rules: readonly RuleFinding[];
}

export const allowed = 'allowed';

export const verdictLimits = {
  /** Rules of one verdict; more are left out, those that are not met come first. */
  rules: 24,
  /** Characters of a text value. */
  text: 40,
  /** Characters of the encoded list in the JSON of an event's attributes. */
  encoded: 1600,
} as const;

/** Control characters and halves of a surrogate pair. */
const unprintable = /[\p{Cc}\p{Cs}]/gu;

/** The verdict of a list of rules: `allowed` when all are met. */
export function verdictOf(rules: readonly RuleFinding[]): Verdict {
  return { code: rules.find(({ isMet }) => !isMet)?.rule ?? allowed, rules };
}

export function isAllowed({ code }: Verdict): boolean {
  return code === allowed;
}

/** Whether a rule is among those that are not met. */
export function isUnmet({ rules }: Verdict, name: RuleName): boolean {
  return rules.some(({ rule, isMet }) => rule === name && !isMet);
}

/** Least time until the rules can be met that lack nothing but time, in s; null when there is none of these. */
export function leastWaitS({ rules }: Verdict): number | null {
  const waits = rules
    .filter(({ rule, isMet, needed }) => !isMet && rule.endsWith('_s') && typeof needed === 'number')
    .map(({ value, needed }) => Number(needed) - (typeof value === 'number' ? value : 0));
  return waits.length === 0 ? null : Math.max(1, ...waits);
}

/** Whether two verdicts are equal apart from numbers: no event for each second that passes. */
export function isSameVerdict(a: Verdict, b: Verdict): boolean {
  if (a.code !== b.code || a.rules.length !== b.rules.length) return false;
  const text = (value: AttributeValue): string => (typeof value === 'string' ? value : '');
  return a.rules.every(({ rule, isMet, value }, at) => {
    const other = b.rules[at];
    return other?.rule === rule && other.isMet === isMet && text(other.value) === text(value);
  });
}

/** A value as it travels: bounded, of three decimals at most, without control characters, never what JSON cannot hold. */
function encodedValue(value: AttributeValue): AttributeValue {
  if (typeof value === 'number') return Number.isFinite(value) ? Number(value.toFixed(3)) : null;
  return typeof value === 'string' ? value.slice(0, verdictLimits.text).replace(unprintable, ' ') : value;
}

const encodedTime = (ms: number | null): number | null =>
  ms === null || !Number.isSafeInteger(Math.round(ms)) ? null : Math.round(ms);

/** The attributes of an event that carry a verdict: `code`, and `rules` as a JSON list `[[rule, 0 | 1, value, needed, sinceMs], ...]`. */
export function verdictAttributes(verdict: Verdict): Readonly<Record<'code' | 'rules', string>> {
  const unmetFirst = [...verdict.rules].sort((a, b) => Number(a.isMet) - Number(b.isMet));
  let kept = unmetFirst.slice(0, verdictLimits.rules);
  const encode = (): string =>
    JSON.stringify(
      kept.map(({ rule, isMet, value, needed, sinceMs }) => [
        rule,
        isMet ? 1 : 0,
        encodedValue(value),
        encodedValue(needed),
        encodedTime(sinceMs),
      ]),
    );
  let rules = encode();
  while (JSON.stringify(rules).length > verdictLimits.encoded) {
    kept = kept.slice(0, -1);
    rules = encode();
  }
  return { code: verdict.code, rules };
}

const namePattern = /^[a-z][a-z0-9_]{0,39}$/;

function isValue(value: unknown): value is AttributeValue {
  if (typeof value === 'string') return value.length <= verdictLimits.text && value.search(unprintable) < 0;
  return (
    value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

function findingOf(value: unknown): RuleFinding | null {
  if (!Array.isArray(value) || value.length !== 5) return null;
  const [rule, met, seen, needed, sinceMs] = value as readonly unknown[];
  const isTime = sinceMs === null || (typeof sinceMs === 'number' && Number.isSafeInteger(sinceMs));
  if (typeof rule !== 'string' || !namePattern.test(rule) || (met !== 0 && met !== 1)) return null;
  if (!isValue(seen) || !isValue(needed) || !isTime) return null;
  return { rule, isMet: met === 1, value: seen, needed, sinceMs };
}

/**
 * The verdict in an event's attributes. Never throws.
 * @returns null when there is none, or when it is malformed, too large, or allows a change although a rule is not met.
 */
export function verdictFrom(
  attributes: Readonly<Record<string, AttributeValue>> | undefined,
): Verdict | null {
  const { code, rules } = attributes ?? {};
  if (typeof code !== 'string' || !namePattern.test(code)) return null;
  if (typeof rules !== 'string' || rules.length > verdictLimits.encoded) return null;
  try {
    const list: unknown = JSON.parse(rules);
    if (!Array.isArray(list) || list.length > verdictLimits.rules) return null;
    const findings = list.map(findingOf);
    if (!findings.every((finding) => finding !== null)) return null;
    return code === allowed && findings.some(({ isMet }) => !isMet) ? null : { code, rules: findings };
  } catch {
    return null;
  }
}
