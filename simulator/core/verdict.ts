// What a run came to, in words: why it failed, or what it proved. Pure; it says no more than was looked at.
import { formatCount } from './count-words.ts';
import { type BreachKind, breachKinds, breachWords } from './ledger-types.ts';
import { formatNumber } from './plot-scale.ts';
import { isBelowRamp, type RampResult } from './ramp.ts';
import type { ThresholdResult } from './thresholds.ts';

export interface Verdict {
  readonly isPassed: boolean;
  readonly sentence: string;
  /** Why it failed; empty when it passed. */
  readonly reasons: readonly string[];
}

/** Names of the checks for people. */
export const breachTitles: Readonly<Record<BreachKind, string>> = {
  acknowledgedMissing: 'Acknowledged, but missing',
  lost: 'Lost',
  duplicated: 'Duplicated',
  reordered: 'Reordered',
  corrupted: 'Corrupted',
  invented: 'Invented',
  unnoticed: 'Unnoticed',
  dropped: 'Dropped',
  panicLate: 'Panic late',
  commandTwice: 'Command carried out twice',
  commandLate: 'Command carried out late',
  commandMoving: 'Engine cut while moving',
  commandOpen: 'Command without an end',
};

interface Judged {
  readonly isPassed: boolean;
  readonly kind: 'agent' | 'tracker';
  readonly devices: number;
  readonly counts: { readonly facts: number; readonly shown: number; readonly commands: number };
  readonly truth: Readonly<Record<BreachKind, number>>;
  readonly unjudged: number;
  readonly thresholds: readonly ThresholdResult[];
  readonly failedStarts: { readonly count: number; readonly last: string };
  readonly ramp: RampResult | null;
}

/** What was measured, with the unit in which a threshold states it. */
export function formatMeasured({ name, value }: Pick<ThresholdResult, 'name' | 'value'>): string {
  if (value === null) return 'not measured';
  const isLatency = name.includes('.') && !name.endsWith('.count') && name !== 'events.rate';
  return `${formatNumber(value)}${isLatency ? ' ms' : name === 'events.rate' ? ' a second' : ''}`;
}

function reasonsOf(run: Judged): readonly string[] {
  const { truth, thresholds, failedStarts, counts, unjudged, ramp } = run;
  return [
    ...breachKinds
      .filter((kind) => truth[kind] > 0)
      .map(
        (kind) => `${formatNumber(truth[kind])} × ${breachTitles[kind].toLowerCase()}: ${breachWords[kind]}`,
      ),
    ...thresholds
      .filter(({ isMet }) => !isMet)
      .map((threshold) => `threshold ${threshold.text} was not met: ${formatMeasured(threshold)}`),
    ...(failedStarts.count > 0
      ? [`${formatCount(failedStarts.count, 'vehicle')} did not start: ${failedStarts.last}`]
      : []),
    ...(ramp !== null && isBelowRamp(ramp) ? [`the ramp found no knee: ${ramp.knee.words}`] : []),
    ...(counts.shown === 0 ? ['the service returned no event, so nothing is proven'] : []),
    ...(unjudged * 2 > counts.facts ? ['most facts could not be judged, so nothing is proven'] : []),
  ];
}

/** Words for a result. */
export function verdictOf(run: Judged): Verdict {
  const { isPassed, devices, counts, kind } = run;
  const fleet = formatCount(devices, kind === 'agent' ? 'vehicle' : 'light tracker');
  if (!isPassed) {
    const reasons = reasonsOf(run);
    const sentence = `The run of ${fleet} did not hold: ${formatCount(reasons.length, 'reason')}.`;
    return { isPassed, sentence, reasons };
  }
  const commands =
    counts.commands === 0
      ? ''
      : ` ${counts.commands === 1 ? 'The one command' : `The ${formatNumber(counts.commands)} commands`} moved relays at most once, in time, and never while a vehicle moved.`;
  const sentence = `Every one of the ${formatCount(counts.shown, 'event')} of ${fleet} came back once, whole and in order.${commands}`;
  return { isPassed, sentence, reasons: [] };
}
