// What a run found, as one value: figures, thresholds, the judgement. Made from what was measured, and nothing left out that speaks
// against the run.
import type { Judgement } from '../core/judgement.ts';
import { commandTimes } from '../core/judgement-commands.ts';
import type { Ledger, LedgerCounts } from '../core/ledger.ts';
import { type Breach, breachKinds } from '../core/ledger-types.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import { type Figures, judgeThresholds, type ThresholdResult } from '../core/thresholds.ts';
import type { Latencies } from './latency.ts';

export interface MachineFigures {
  /** CPU time of this process, ms, and its resident memory at the end, MiB. */
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly startRssMb: number;
}

export interface RunResult {
  readonly format: 1;
  readonly scenario: string;
  readonly title: string;
  readonly seed: string;
  readonly kind: Scenario['fleet']['kind'];
  readonly devices: number;
  readonly durationS: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly isPassed: boolean;
  readonly counts: LedgerCounts;
  readonly truth: Judgement['counts'];
  readonly unjudged: number;
  readonly figures: Figures;
  readonly thresholds: readonly ThresholdResult[];
  readonly machine: MachineFigures;
  readonly refusedCommands: { readonly count: number; readonly last: string };
  readonly failedStarts: { readonly count: number; readonly last: string };
  /** In words, what the reader of the figures must know. */
  readonly warnings: readonly string[];
  /** The first of them; `truth` counts all. */
  readonly breaches: readonly Breach[];
}

const breachesMost = 500;
/** From this lag on the generator's own figures are in doubt, ms. */
const lagMostMs = 250;

export interface ResultParts {
  readonly name: string;
  readonly scenario: Scenario;
  readonly startedAt: string;
  readonly ledger: Ledger;
  readonly judgement: Judgement;
  readonly latencies: Latencies;
  readonly elapsedS: number;
  readonly machine: MachineFigures;
  readonly refusedCommands: RunResult['refusedCommands'];
  readonly failedStarts: RunResult['failedStarts'];
  readonly thresholds: readonly string[];
}

function warningsOf({
  ledger,
  latencies,
  refusedCommands,
  failedStarts,
  judgement,
}: ResultParts): readonly string[] {
  const lag = latencies.band('lag');
  return [
    ...(lag !== null && lag.p99 > lagMostMs
      ? [
          `the generator is the bottleneck: its event loop was late by ${lag.p99} ms (p99); latencies are its own too`,
        ]
      : []),
    ...(refusedCommands.count > 0
      ? [`${refusedCommands.count} commands were refused, the last with: ${refusedCommands.last}`]
      : []),
    ...(failedStarts.count > 0 ? [`${failedStarts.count} vehicles did not start: ${failedStarts.last}`] : []),
    ...(judgement.unjudged > 0
      ? [
          `${judgement.unjudged} facts are not judged: too short to be seen, under a fault, in one of ${ledger.stalls.length} stalls of the generator, or too late in the run`,
        ]
      : []),
    ...(judgement.unjudged * 2 > ledger.counts().facts
      ? [
          'most facts could not be judged, so the run proves nothing: take fewer vehicles, or a less busy machine',
        ]
      : []),
  ];
}

/** Puts the result together. */
export function resultOf(parts: ResultParts): RunResult {
  const { scenario, ledger, judgement, latencies } = parts;
  for (const ms of judgement.durableMs) latencies.record('durable', ms);
  for (const ms of judgement.panicMs) latencies.record('panic', ms);
  for (const ms of commandTimes(ledger, '0')) latencies.record('restore', ms);
  for (const ms of commandTimes(ledger, '1')) latencies.record('cut', ms);
  const counts = ledger.counts();
  const figures: Figures = {
    ...latencies.figures(),
    ...judgement.counts,
    'events.count': counts.acknowledged,
    'events.rate': Math.round((counts.acknowledged / Math.max(1, parts.elapsedS)) * 100) / 100,
    'facts.count': counts.facts,
    connects: counts.connects,
    commands: counts.commands,
  };
  const thresholds = judgeThresholds(parts.thresholds, figures);
  // A run without events, or with most of its facts unjudged, proves nothing.
  const isProof = counts.shown > 0 && judgement.unjudged * 2 <= counts.facts;
  const isTrue = breachKinds.every((kind) => judgement.counts[kind] === 0);
  return {
    format: 1,
    scenario: parts.name,
    title: scenario.title,
    seed: scenario.seed,
    kind: scenario.fleet.kind,
    devices: scenario.fleet.devices,
    durationS: scenario.durationS,
    startedAt: parts.startedAt,
    isPassed: isTrue && isProof && parts.failedStarts.count === 0 && thresholds.every(({ isMet }) => isMet),
    counts,
    truth: judgement.counts,
    unjudged: judgement.unjudged,
    figures,
    thresholds,
    machine: parts.machine,
    refusedCommands: parts.refusedCommands,
    failedStarts: parts.failedStarts,
    warnings: warningsOf(parts),
    breaches: judgement.breaches.slice(0, breachesMost),
  };
}
