// Builders for the findings of a verdict; a finding is the observed state of one rule of the interlock.
import type { AttributeValue } from '../../../src/core/events/event.ts';
import type { RuleFinding, RuleName } from '../../../src/core/verdict/verdict.ts';

interface Finding {
  readonly isMet: boolean;
  readonly value: AttributeValue;
  readonly needed: AttributeValue;
  readonly sinceMs?: number | null;
}

export const found = (rule: RuleName, { isMet, value, needed, sinceMs = null }: Finding): RuleFinding => ({
  rule,
  isMet,
  value,
  needed,
  sinceMs,
});

export const seconds = (ms: number): number => Math.floor(ms / 1000);

/** A duration rule: met once `forMs` reaches `neededMs`; null: it has not begun. */
export function lasting(rule: RuleName, forMs: number | null, neededMs: number, nowMs: number): RuleFinding {
  const isMet = forMs !== null && forMs >= neededMs;
  const value = forMs === null || forMs === Number.POSITIVE_INFINITY ? null : seconds(forMs);
  const sinceMs = forMs === null || !Number.isFinite(forMs) ? null : nowMs - forMs;
  return found(rule, { isMet, value, needed: seconds(neededMs), sinceMs });
}
