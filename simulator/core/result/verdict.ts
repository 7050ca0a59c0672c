// The verdict of a run as text: why it failed, or what it proved. Pure.

import { type BreachKind, breachKinds, breachTexts } from '../ledger/ledger-types.ts';
import { isBelowRamp, type RampResult } from '../scenario/ramp.ts';
import { isLatencyFigure, type ThresholdResult } from '../scenario/thresholds.ts';
import { formatCount, formatNumber } from '../text/number-text.ts';
import { type Expectation, unmetText } from './expectations.ts';
import type { StopSignal } from './stop-signal.ts';

export type Outcome = 'passed' | 'failed' | 'incomplete';

export interface Verdict {
  readonly outcome: Outcome;
  readonly sentence: string;
  /** Reasons of a failure, or findings and omissions of an incomplete run; empty when it passed. */
  readonly reasons: readonly string[];
}

/** Titles of the checks. */
export const breachTitles: Readonly<Record<BreachKind, string>> = {
  acknowledgedMissing: 'Acknowledged, but missing',
  lost: 'Lost',
  duplicated: 'Duplicated',
  reordered: 'Reordered',
  corrupted: 'Corrupted',
  invented: 'Invented',
  unnoticed: 'Unnoticed',
  misplaced: 'Wrong place or speed',
  mistimed: 'Wrong time',
  untracked: 'Drive without positions',
  odometerWrong: 'Wrong odometer',
  fuelWrong: 'Wrong fuel level',
  busWrong: 'Wrong value of the vehicle bus',
  historyWrong: 'Wrong history',
  presentWrong: 'Wrong present',
  alertsWrong: 'Wrong alerts',
  streamWrong: 'Wrong live stream',
  accessWrong: 'Access that must be refused',
  settingsWrong: 'Wrong settings',
  zonesWrong: 'Wrong crossing of a geozone',
  messagesWrong: 'Wrong messages',
  deliveriesWrong: 'Wrong deliveries',
  approvalsWrong: 'Wrong approvals',
  serviceCodesWrong: 'Wrong service codes',
  auditWrong: 'Wrong audit log',
  reportsWrong: 'Wrong reports',
  dropped: 'Dropped',
  panicLate: 'Panic late',
  commandTwice: 'Command carried out twice',
  commandLate: 'Command carried out late',
  commandMoving: 'Engine cut while moving',
  commandOpen: 'Command without an end',
  commandUndelivered: 'Command not delivered',
  falseConfirmation: 'False confirmation',
  wrongRelay: 'Wrong relay moved',
  notRestored: 'Not restored',
  wrongState: 'Wrong state shown',
  commandsWrong: 'Wrong list of commands',
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
  readonly expectations: readonly Expectation[];
  readonly interruptedBy: StopSignal | null;
  readonly notLookedAt?: readonly string[] | undefined;
  readonly elapsedS: number;
  readonly durationS: number;
  readonly ramp: RampResult | null;
}

/** The measured value with the unit of its threshold. */
export function formatMeasured({ name, value }: Pick<ThresholdResult, 'name' | 'value'>): string {
  if (value === null) return 'not measured';
  return `${formatNumber(value)}${isLatencyFigure(name) ? ' ms' : name === 'events.rate' ? ' a second' : ''}`;
}

function reasonsOf(run: Judged): readonly string[] {
  const { truth, thresholds, failedStarts, counts, unjudged, ramp, expectations } = run;
  const isWhole = run.interruptedBy === null;
  return [
    ...breachKinds
      .filter((kind) => truth[kind] > 0)
      .map(
        (kind) => `${formatNumber(truth[kind])} × ${breachTitles[kind].toLowerCase()}: ${breachTexts[kind]}`,
      ),
    ...thresholds
      .filter(({ isMet }) => !isMet)
      .map((threshold) => `threshold ${threshold.text} was not met: ${formatMeasured(threshold)}`),
    ...(failedStarts.count > 0
      ? [`${formatCount(failedStarts.count, 'vehicle')} did not start: ${failedStarts.last}`]
      : []),
    ...(ramp !== null && isBelowRamp(ramp) ? [`the ramp found no knee: ${ramp.knee.words}`] : []),
    ...expectations.filter(({ isMet }) => !isMet).map(unmetText),
    ...(isWhole && counts.shown === 0 ? ['the service returned no event, so nothing is proven'] : []),
    ...(isWhole && unjudged * 2 > counts.facts
      ? ['most facts could not be judged, so nothing is proven']
      : []),
  ];
}

/** A run that a signal ended is incomplete, not failed: events on their way may look lost. */
export function outcomeOf(run: Judged): Outcome {
  if (run.isPassed) return 'passed';
  const isUnseen = (run.notLookedAt ?? []).length > 0 && reasonsOf(run).length === 0;
  return run.interruptedBy !== null || isUnseen ? 'incomplete' : 'failed';
}

export function verdictOf(run: Judged): Verdict {
  const { devices, counts, kind, interruptedBy, notLookedAt = [] } = run;
  const outcome = outcomeOf(run);
  const fleet = formatCount(devices, kind === 'agent' ? 'vehicle' : 'light tracker');
  const unseen = notLookedAt.map((what) => `not looked at: ${what}`);
  if (outcome === 'incomplete') {
    const spent = `${Math.round(run.elapsedS)} s of ${formatCount(run.durationS, 'second')}`;
    const why = interruptedBy === null ? '' : `, ended by ${interruptedBy} after ${spent}`;
    const sentence = `The run of ${fleet} is incomplete${why}: it is not judged as a whole.`;
    return { outcome, sentence, reasons: [...reasonsOf(run), ...unseen] };
  }
  if (outcome === 'failed') {
    const reasons = [...reasonsOf(run), ...unseen];
    const sentence = `The run of ${fleet} did not hold: ${formatCount(reasons.length, 'reason')}.`;
    return { outcome, sentence, reasons };
  }
  const commands =
    counts.commands === 0
      ? ''
      : ` ${counts.commands === 1 ? 'The one command' : `The ${formatNumber(counts.commands)} commands`} moved relays at most once, in time, and never while a vehicle moved.`;
  const sentence = `Every one of the ${formatCount(counts.shown, 'event')} of ${fleet} came back once, whole and in order.${commands}`;
  return { outcome, sentence, reasons: [] };
}
