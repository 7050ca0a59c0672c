// Observed properties of a receiver's stream, for status and doctor: reasons why its positions prove less than they could, or why there are none.
// Facts about the receiver, never evidence.
import { type EpochReport } from './epochs.ts';
import type { Sentence } from './nmea-sentences.ts';

const factLimits = {
  /** Approximate number of fixes in the moving mean. */
  fixes: 20,
  /** Minimum number of fixes for a statement about the receiver. */
  least: 4,
  /** Share of fixes that must lack a value before it is reported as missing. */
  share: 0.5,
  /** Time for which an unusable sentence is reported. */
  namedMs: 60_000,
} as const;

export interface ReceiverFacts {
  /** Sentences with a correct checksum that could not be used, and the newest of them; null: none. */
  readonly unusable: { readonly count: number; readonly example: string; readonly atMs: number } | null;
  readonly fixes: number;
  /** Shares of the fixes without a speed of RMC, and without an HDOP. */
  readonly noSpeed: number;
  readonly noHdop: number;
}

export const noReceiverFacts: ReceiverFacts = { unusable: null, fixes: 0, noSpeed: 0, noHdop: 0 };

/** Records the sentences of one chunk of bytes. */
export function recordSentences(
  facts: ReceiverFacts,
  sentences: readonly Sentence[],
  atMs: number,
): ReceiverFacts {
  let { unusable } = facts;
  for (const one of sentences)
    if (one.type === 'unusable') unusable = { count: (unusable?.count ?? 0) + 1, example: one.text, atMs };
  return unusable === facts.unusable ? facts : { ...facts, unusable };
}

/** Records the fix of an epoch. A void one lacks everything for another reason. */
export function recordReport(facts: ReceiverFacts, report: EpochReport): ReceiverFacts {
  if (report.kind === 'void') return facts;
  const { rmcValid, speedKmh, isSpeedOfVtg, hdop } = report.fix;
  const fixes = facts.fixes + 1;
  const part = 1 / Math.min(fixes, factLimits.fixes);
  const mean = (share: number, isLacking: boolean): number => share + ((isLacking ? 1 : 0) - share) * part;
  const hasSpeed = rmcValid && speedKmh !== null && isSpeedOfVtg !== true;
  return {
    ...facts,
    fixes,
    noSpeed: mean(facts.noSpeed, !hasSpeed),
    noHdop: mean(facts.noHdop, hdop === null),
  };
}

export interface Unusable {
  readonly count: number;
  readonly example: string;
}

/** Unusable sentences with a correct checksum, if the last one is recent; null otherwise. */
export function unusableLately({ unusable }: ReceiverFacts, nowMs: number): Unusable | null {
  if (unusable === null || nowMs - unusable.atMs > factLimits.namedMs) return null;
  return { count: unusable.count, example: unusable.example };
}

/** Values that most positions lack; false for all while too few fixes are known. */
export function lacksOf({ fixes, noSpeed, noHdop }: ReceiverFacts): {
  readonly speed: boolean;
  readonly hdop: boolean;
} {
  const isKnown = fixes >= factLimits.least;
  return { speed: isKnown && noSpeed > factLimits.share, hdop: isKnown && noHdop > factLimits.share };
}
