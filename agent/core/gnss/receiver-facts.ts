// What a receiver is seen to send, for status and doctor: why its positions prove less than they could, or why there
// are none. Facts about the receiver, never evidence.
import { type EpochReport } from './epochs.ts';
import type { Sentence } from './nmea-sentences.ts';

const factLimits = {
  /** About so many fixes are looked back on. */
  fixes: 20,
  /** Fewer say nothing of the receiver. */
  least: 4,
  /** More of them lack it than have it. */
  share: 0.5,
  /** A sentence that could not be used is named for this long. */
  namedMs: 60_000,
} as const;

export interface ReceiverFacts {
  /** Sentences with a right checksum that could not be used, and the newest of them; null without any. */
  readonly unusable: { readonly count: number; readonly example: string; readonly atMs: number } | null;
  readonly fixes: number;
  /** Share of the fixes without a speed of RMC, and without an HDOP. */
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

/** Records the fix of an epoch; a void one lacks everything for another reason. */
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

/** Sentences with a right checksum that could not be used, when the last of them is not long ago. */
export function unusableLately({ unusable }: ReceiverFacts, nowMs: number): Unusable | null {
  if (unusable === null || nowMs - unusable.atMs > factLimits.namedMs) return null;
  return { count: unusable.count, example: unusable.example };
}

/** What most of the positions lack; nothing is said of a receiver that is hardly known. */
export function lacksOf({ fixes, noSpeed, noHdop }: ReceiverFacts): {
  readonly speed: boolean;
  readonly hdop: boolean;
} {
  const isKnown = fixes >= factLimits.least;
  return { speed: isKnown && noSpeed > factLimits.share, hdop: isKnown && noHdop > factLimits.share };
}
