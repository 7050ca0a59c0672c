// What a run found, as one value: figures, thresholds, the judgement. Made from what was measured, and nothing left out that speaks
// against the run.
import type { Intervention } from '../core/control.ts';
import { countOf } from '../core/count-words.ts';
import type { FaultSpan } from '../core/fault-spans.ts';
import type { Judgement } from '../core/judgement.ts';
import { commandDelays } from '../core/judgement-commands.ts';
import type { Ledger } from '../core/ledger.ts';
import { type Breach, breachKinds, type LedgerCounts } from '../core/ledger-types.ts';
import { isBelowRamp, type RampResult } from '../core/ramp.ts';
import { type DrivenRoute, routesOf } from '../core/route-map.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import { lagMostMs } from '../core/screen.ts';
import { createSeries, mergeSeries, type SeriesData } from '../core/series.ts';
import { columnsOf, type SeriesColumns } from '../core/series-columns.ts';
import { type Figures, judgeThresholds, type ThresholdResult } from '../core/thresholds.ts';
import type { BrokerSight } from './broker-watch.ts';
import type { Latencies } from './latency.ts';
import type { RunSetting } from './setting.ts';

export interface MachineFigures {
  /** CPU time of the simulator's processes, ms, and their resident memory at the end and at the start, MiB. */
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly startRssMb: number;
  /** By how much the processes that hold the vehicles have grown with them, MiB; older results do not say it. */
  readonly grownMb?: number;
  /** That shared the fleet. */
  readonly processes: number;
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
  /** Null: a run without a ramp. */
  readonly ramp: RampResult | null;
  /** What people changed while it went on. */
  readonly interventions: readonly Intervention[];
  readonly machine: MachineFigures;
  readonly refusedCommands: { readonly count: number; readonly last: string };
  readonly failedStarts: { readonly count: number; readonly last: string };
  /** In words, what the reader of the figures must know. */
  readonly warnings: readonly string[];
  /** The first of them; `truth` counts all. */
  readonly breaches: readonly Breach[];
  /** How long facts were made: until the end, or until the run was stopped. */
  readonly elapsedS: number;
  readonly series: SeriesColumns;
  /** When which fault was there. */
  readonly faults: readonly FaultSpan[];
  /** Empty for light trackers, which have no road. */
  readonly routes: readonly DrivenRoute[];
  /** What was seen of the broker's own figures. */
  readonly brokerSight: BrokerSight;
  readonly setting: RunSetting;
  /** The scenario with all its defaults. */
  readonly spec: Scenario;
}

const breachesMost = 500;

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
  readonly ramp: RunResult['ramp'];
  readonly interventions: RunResult['interventions'];
  readonly series: SeriesData;
  readonly faults: readonly FaultSpan[];
  readonly brokerSight: BrokerSight;
  readonly setting: RunSetting;
}

function warningsOf({
  ledger,
  latencies,
  refusedCommands,
  failedStarts,
  judgement,
  interventions,
}: ResultParts): readonly string[] {
  const lag = latencies.band('lag');
  return [
    ...(lag !== null && lag.p99 > lagMostMs
      ? [
          `the generator is the bottleneck: its event loop was late by ${Math.round(lag.p99)} ms (p99); latencies are its own too`,
        ]
      : []),
    ...(refusedCommands.count > 0
      ? [
          `${countOf(refusedCommands.count, 'command was', 'commands were')} refused, the last with: ${refusedCommands.last}`,
        ]
      : []),
    ...(interventions.length > 0
      ? [`the run was changed by hand ${countOf(interventions.length, 'time')}: it is not the scenario alone`]
      : []),
    ...(failedStarts.count > 0
      ? [`${countOf(failedStarts.count, 'vehicle')} did not start: ${failedStarts.last}`]
      : []),
    ...(judgement.unjudged > 0
      ? [
          `${countOf(judgement.unjudged, 'fact is', 'facts are')} not judged: too short to be seen, under a fault, in a stall of the generator (${countOf(ledger.stalls.length, 'stall')} in all), or too late in the run`,
        ]
      : []),
    ...(judgement.unjudged * 2 > ledger.counts().facts
      ? [
          'most facts could not be judged, so the run proves nothing: take fewer vehicles, or a less busy machine',
        ]
      : []),
  ];
}

/** The series with what only the end of a run knows: when a relay moved for a command. */
function wholeSeries({ series, ledger }: ResultParts): SeriesColumns {
  const late = createSeries();
  for (const { atMs, tookMs } of commandDelays(ledger, '0')) late.latency('restore', atMs, tookMs);
  for (const { atMs, tookMs } of commandDelays(ledger, '1')) late.latency('cut', atMs, tookMs);
  return columnsOf(mergeSeries(series, late.data()));
}

type Found = Pick<RunResult, 'counts' | 'truth' | 'unjudged' | 'thresholds' | 'failedStarts'>;

/** Everything is as it must be, and enough was looked at: a run without events, or with most facts unjudged, proves nothing. */
function isGood({ counts, truth, unjudged, thresholds, failedStarts }: Found): boolean {
  const isProof = counts.shown > 0 && unjudged * 2 <= counts.facts && failedStarts.count === 0;
  const isTrue = breachKinds.every((kind) => truth[kind] === 0);
  return isProof && isTrue && thresholds.every(({ isMet }) => isMet);
}

/** That its ramp began too high is all that is wrong with the run. */
export const isOnlyBelowRamp = (result: RunResult): boolean => isGood(result) && isBelowRamp(result.ramp);

/** Puts the result together. */
export function resultOf(parts: ResultParts): RunResult {
  const { scenario, ledger, judgement, latencies } = parts;
  for (const ms of judgement.durableMs) latencies.record('durable', ms);
  for (const ms of judgement.panicMs) latencies.record('panic', ms);
  for (const { tookMs } of commandDelays(ledger, '0')) latencies.record('restore', tookMs);
  for (const { tookMs } of commandDelays(ledger, '1')) latencies.record('cut', tookMs);
  const counts = ledger.counts();
  const figures: Figures = {
    ...latencies.figures(),
    ...judgement.counts,
    'events.count': counts.acknowledged,
    'events.rate': Math.round((counts.acknowledged / Math.max(1, parts.elapsedS)) * 100) / 100,
    'facts.count': counts.facts,
    connects: counts.connects,
    commands: counts.commands,
    delivered: counts.events === 0 ? 0 : Math.round((counts.acknowledged * 10_000) / counts.events) / 100,
  };
  const found = {
    counts,
    truth: judgement.counts,
    unjudged: judgement.unjudged,
    thresholds: judgeThresholds(parts.thresholds, figures),
    failedStarts: parts.failedStarts,
  };
  return {
    format: 1,
    scenario: parts.name,
    title: scenario.title,
    seed: scenario.seed,
    kind: scenario.fleet.kind,
    devices: scenario.fleet.devices,
    durationS: scenario.durationS,
    startedAt: parts.startedAt,
    ...found,
    isPassed: isGood(found) && !isBelowRamp(parts.ramp),
    figures,
    ramp: parts.ramp,
    interventions: parts.interventions,
    machine: parts.machine,
    refusedCommands: parts.refusedCommands,
    warnings: warningsOf(parts),
    breaches: judgement.breaches.slice(0, breachesMost),
    elapsedS: parts.elapsedS,
    series: wholeSeries(parts),
    faults: parts.faults,
    routes: scenario.fleet.kind === 'tracker' ? [] : routesOf(ledger.vehicles.values()),
    brokerSight: parts.brokerSight,
    setting: parts.setting,
    spec: scenario,
  };
}
