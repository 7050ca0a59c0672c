// Outcome of the interlock as data: the checked rules, whether each is met, and its observed and needed value. It travels with a command's state from
// the vehicle to the ledger and to apps; `verdict-text.ts` formats it. No code may decide anything from that text.
import type { AttributeValue } from '../events/event.ts';

/** Rules of a relay change, in the order in which they are checked; append only. */
export const ruleNames = [
  /** The disk stores what must be durable before a relay moves. Value and needed: `works`, or `failed`. */
  'storage',
  /** The relay follows its orders. Value: outcome of the last order. */
  'relay_follows',
  /** The board answered its last read-back. Value and needed: `answers`, or `silent`. */
  'board_alive',
  /** The clock is trusted. Value: `known`, or the reason: `unknown`, `behind`, `unconfirmed`. */
  'time_known',
  /** Seconds since the last change of this relay. */
  'change_interval_s',
  /** Changes of this relay within the last hour; needed: fewer than this. */
  'changes_per_hour',
  /** The installer permits automatic cuts. */
  'automation_enabled',
  /** Seconds since panic was last active or unknown; null while it is. */
  'panic_calm_s',
  /**
   * The key. Value: `on`, `off`, `unknown`, `contradicted`, `suspended` (the input must be seen on once before its "off" counts), or `unsteady`
   * (switched too often; it counts after a minute of rest).
   */
  'ignition_off',
  'ignition_off_s',
  /** Neither a fitted witness nor the vehicle bus shows movement. Value: the witness that does, `bus`, or `none`. */
  'no_movement',
  /** Speed over ground by a good fix, km/h; needed: at most this. */
  'speed_kmh',
  /** Neither a fitted witness nor the vehicle bus shows a running engine. Value: the witness that does, `bus`, or `none`. */
  'engine_at_rest',
  /** The installer permits a change without a position. */
  'no_position_allowed',
  /** Seconds since the last doubtful position. */
  'position_trusted_s',
  /** The vehicle is proven to stand. Value: the proof, or the reason why there is none. */
  'standstill',
  /** Seconds of proven standstill. */
  'standstill_s',
  /** Number of proven, independent witnesses that agree. */
  'witnesses',
  /** One fitted witness, listed if `witnesses` is not met. Value: its state; needed: `proven`. */
  'witness_gnss',
  'witness_motion',
  'witness_ignition',
  'witness_rpm',
  'witness_voltage',
  /** The warning output. Value: `works`, `absent`, `failed`. */
  'warning_output',
  'warning_s',
  /** Single fault that explains all agreeing witnesses. Value: `contacts`, `board`, or `none`. */
  'common_cause',
  /** Age of the newest fix, ms; needed: at most this. Listed last and only if all else is met, because a decision follows a fix at once. */
  'fix_age_ms',
  /** Age of the last answered request for ignition and motion input, ms; needed: at most this. Listed if all else is met. */
  'input_age_ms',
  /** Speed of the newest fix, km/h; needed: at most the speed of the one before, and of any within the second before. Listed if all else is met. */
  'rising_kmh',
] as const;
export type RuleName = (typeof ruleNames)[number];

/** Observed state of one rule. */
export interface RuleFinding {
  /** One of `ruleNames`; a newer vehicle may send others. */
  readonly rule: string;
  readonly isMet: boolean;
  /** Observed value; null: unknown. The rule's name ends in the unit. */
  readonly value: AttributeValue;
  readonly needed: AttributeValue;
  /** Start of this state, UTC ms; null: unknown. */
  readonly sinceMs: number | null;
}

export interface Verdict {
  /** `allowed`, or the first rule that is not met. */
  readonly code: string;
  readonly rules: readonly RuleFinding[];
}

export const allowed = 'allowed';

export const verdictLimits = {
  /** Maximum number of rules in one verdict; unmet rules come first, the rest is omitted. */
  rules: 24,
  /** Maximum length of a text value, in characters. */
  text: 40,
  /** Maximum length of the encoded list in the JSON of an event's attributes, in characters. */
  encoded: 1600,
} as const;

/** Control characters and halves of a surrogate pair. */
const unprintable = /[\p{Cc}\p{Cs}]/gu;

/** Verdict of a list of rules: `allowed` when all are met. */
export function verdictOf(rules: readonly RuleFinding[]): Verdict {
  return { code: rules.find(({ isMet }) => !isMet)?.rule ?? allowed, rules };
}

export function isAllowed({ code }: Verdict): boolean {
  return code === allowed;
}

/** True when the rule is listed and not met. */
export function isUnmet({ rules }: Verdict, name: RuleName): boolean {
  return rules.some(({ rule, isMet }) => rule === name && !isMet);
}

/** Minimum time until all rules that only lack time can be met, s; null: there are none. */
export function leastWaitS({ rules }: Verdict): number | null {
  const waits = rules
    .filter(({ rule, isMet, needed }) => !isMet && rule.endsWith('_s') && typeof needed === 'number')
    .map(({ value, needed }) => Number(needed) - (typeof value === 'number' ? value : 0));
  return waits.length === 0 ? null : Math.max(1, ...waits);
}

/** True when two verdicts are equal apart from numbers: prevents one event for every second that passes. */
export function isSameVerdict(a: Verdict, b: Verdict): boolean {
  if (a.code !== b.code || a.rules.length !== b.rules.length) return false;
  const text = (value: AttributeValue): string => (typeof value === 'string' ? value : '');
  return a.rules.every(({ rule, isMet, value }, at) => {
    const other = b.rules[at];
    return other?.rule === rule && other.isMet === isMet && text(other.value) === text(value);
  });
}

/** A value for the wire: bounded, at most three decimals, without control characters and values that JSON cannot hold. */
function encodedValue(value: AttributeValue): AttributeValue {
  if (typeof value === 'number') return Number.isFinite(value) ? Number(value.toFixed(3)) : null;
  return typeof value === 'string' ? value.slice(0, verdictLimits.text).replace(unprintable, ' ') : value;
}

const encodedTime = (ms: number | null): number | null =>
  ms === null || !Number.isSafeInteger(Math.round(ms)) ? null : Math.round(ms);

/** Attributes of an event for a verdict: `code`, and `rules` as a JSON list `[[rule, 0 | 1, value, needed, sinceMs], ...]`. */
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
