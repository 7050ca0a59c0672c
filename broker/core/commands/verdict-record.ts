// The interlock's verdict as answers and streams show it: every member named, times as the interface has them. Pure.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { RuleFinding, Verdict } from '../../../src/core/verdict/verdict.ts';

/** @see Verdict */
export interface VerdictRecord {
  /** The first rule that is not met; `allowed` when all are. */
  readonly code: string;
  readonly rules: RuleFinding[];
  /** When the vehicle judged, epoch seconds. */
  readonly at: number;
}

/** @param atMs event time of the report that carried it, UTC ms. */
export function verdictRecord(verdict: Verdict | null, atMs: number): VerdictRecord | null {
  if (verdict === null) return null;
  const { code, rules } = verdict;
  return {
    code,
    rules: rules.map(({ rule, isMet, value, needed, sinceMs }) => ({ rule, isMet, value, needed, sinceMs })),
    at: epochSeconds(atMs),
  };
}
