// The result of a run as one value: figures, thresholds, the judgement. Nothing that speaks against the run is left out.

import type { Judgement } from '../../core/judgement/judgement.ts';
import type { StreamSight } from '../../core/judgement/judgement-alerts.ts';
import { commandDelays, countDone } from '../../core/judgement/judgement-commands.ts';
import { type CommandOutcome, commandOutcomes } from '../../core/ledger/command-outcomes.ts';
import { type DrivenRoute, routesOf } from '../../core/ledger/driven-routes.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import { type Breach, breachKinds, type LedgerCounts } from '../../core/ledger/ledger-types.ts';
import type { Intervention } from '../../core/live/control-requests.ts';
import { lagMostMs } from '../../core/live/screen.ts';
import { notLookedAtOf } from '../../core/result/coverage.ts';
import { type Expectation, expectationsOf, isTooSmall, type Seen } from '../../core/result/expectations.ts';
import type { StopSignal } from '../../core/result/stop-signal.ts';
import type { ExerciseResult } from '../../core/scenario/exercises.ts';
import { isBelowRamp, type RampResult } from '../../core/scenario/ramp.ts';
import type { FaultSpan, Scenario } from '../../core/scenario/scenario-schema.ts';
import { type Figures, judgeThresholds, type ThresholdResult } from '../../core/scenario/thresholds.ts';
import { createSeries, mergeSeries, type SeriesData } from '../../core/series/series.ts';
import { columnsOf, type SeriesColumns } from '../../core/series/series-columns.ts';
import { countOf } from '../../core/text/number-text.ts';
import type { CommandTally } from '../service/command-sender.ts';
import type { BrokerSight } from './broker-watch.ts';
import type { Latencies } from './latency.ts';
import type { RunSetting } from './setting.ts';

export interface MachineFigures {
  /** CPU time of the simulator's processes, ms, and their resident memory at the end and at the start, MiB. */
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly startRssMb: number;
  /** Growth of the processes that hold the vehicles, MiB; absent in older results. */
  readonly grownMb?: number;
  /** Processes that shared the fleet. */
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
  /** The signal that ended the run early: such a run has not passed. Null: it was complete. */
  readonly interruptedBy: StopSignal | null;
  /** Omissions of the run, which then has not passed. Empty: complete; absent in older results. */
  readonly notLookedAt?: readonly string[];
  readonly counts: LedgerCounts;
  readonly truth: Judgement['counts'];
  readonly unjudged: number;
  readonly facts: Judgement['facts'];
  readonly commands: readonly CommandOutcome[];
  /** Vehicles whose history, present and exports were read back one by one. */
  readonly readVehicles: number;
  /** Events on the live stream, and whether each of them was counted. */
  readonly live: { readonly seen: number; readonly isCounted: boolean };
  readonly figures: Figures;
  readonly thresholds: readonly ThresholdResult[];
  /** Needed and made observations; empty for a run that a signal ended. */
  readonly expectations: readonly Expectation[];
  /** Null: a run without a ramp. */
  readonly ramp: RampResult | null;
  /** Changes through the control socket. */
  readonly interventions: readonly Intervention[];
  readonly machine: MachineFigures;
  readonly refusedCommands: { readonly count: number; readonly last: string };
  /** Cuts that needed the approval of a second user. */
  readonly approvals: CommandTally['approvals'];
  /** Exercises with the account, and the number of comparisons. */
  readonly exercises: readonly ExerciseResult[];
  readonly failedStarts: { readonly count: number; readonly last: string };
  /** Texts for readers of the figures. */
  readonly warnings: readonly string[];
  /** The first of them; `truth` counts all. */
  readonly breaches: readonly Breach[];
  /** Duration of the actions: to the end, or until the run was stopped. */
  readonly elapsedS: number;
  readonly series: SeriesColumns;
  /** Spans of the faults. */
  readonly faults: readonly FaultSpan[];
  /** Empty for light trackers, which drive no route. */
  readonly routes: readonly DrivenRoute[];
  /** How the reads of the broker's metrics went. */
  readonly brokerSight: BrokerSight;
  readonly setting: RunSetting;
  /** The scenario with all its defaults. */
  readonly spec: Scenario;
}

const breachesMost = 500;

export interface ResultInput {
  readonly name: string;
  readonly scenario: Scenario;
  readonly startedAt: string;
  readonly ledger: Ledger;
  readonly judgement: Judgement;
  readonly latencies: Latencies;
  readonly elapsedS: number;
  readonly machine: MachineFigures;
  readonly commands: CommandTally;
  readonly live: Seen['live'];
  readonly exercised: readonly ExerciseResult[];
  readonly readVehicles: number;
  readonly onRoad: number;
  /** Events of the recording that is replayed; null: none is. */
  readonly recorded: number | null;
  readonly interruptedBy: StopSignal | null;
  /** Null: the live stream may have left events out, and said so. */
  readonly streamSight: StreamSight | null;
  /** True when all views were read back; else the reason. */
  readonly hasViews: boolean;
  readonly unreadReason: string | null;
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
  commands: { approvals },
  failedStarts,
  judgement,
  interventions,
  streamSight,
}: ResultInput): readonly string[] {
  const lag = latencies.band('lag');
  return [
    ...(lag !== null && lag.p99 > lagMostMs
      ? [
          `The generator is the bottleneck: its event loop was ${Math.round(lag.p99)} ms late (p99), which the latencies include`,
        ]
      : []),
    ...(approvals.waiting > 0
      ? [
          `${countOf(approvals.waiting, 'cut waits', 'cuts wait')} for the approval of a second user and did not reach a vehicle; give one with --approver`,
        ]
      : []),
    ...(interventions.length > 0
      ? [
          `The run was changed through --ctl ${countOf(interventions.length, 'time')}: it is not the scenario alone`,
        ]
      : []),
    ...(failedStarts.count > 0
      ? [`${countOf(failedStarts.count, 'vehicle')} did not start: ${failedStarts.last}`]
      : []),
    ...(streamSight === null
      ? [
          'The live stream left events out and said so, or showed more than are counted: it was not compared event by event',
        ]
      : []),
    ...(judgement.unjudged > 0
      ? [
          `${countOf(judgement.unjudged, 'fact is', 'facts are')} not judged: too short to be detected, under a fault, in a stall of the generator (${countOf(ledger.stalls.length, 'stall')} in all), or too late in the run`,
        ]
      : []),
    ...(judgement.unjudged * 2 > ledger.counts().facts
      ? [
          'Most facts could not be judged, so the run proves nothing: use fewer vehicles, or a less busy machine',
        ]
      : []),
  ];
}

/** The series with the delays of commands, which are known at the end only. */
function completeSeries({ series, ledger }: ResultInput): SeriesColumns {
  const late = createSeries();
  for (const { atMs, tookMs } of commandDelays(ledger, '0')) late.latency('restore', atMs, tookMs);
  for (const { atMs, tookMs } of commandDelays(ledger, '1')) late.latency('cut', atMs, tookMs);
  return columnsOf(mergeSeries(series, late.data()));
}

type Found = Pick<
  RunResult,
  | 'counts'
  | 'truth'
  | 'unjudged'
  | 'thresholds'
  | 'failedStarts'
  | 'expectations'
  | 'interruptedBy'
  | 'notLookedAt'
>;

/** No breach, all thresholds met, and enough observed: a run without events, or with most facts unjudged, proves nothing. */
function isGood({ counts, truth, unjudged, thresholds, failedStarts, ...found }: Found): boolean {
  const isProof = counts.shown > 0 && unjudged * 2 <= counts.facts && failedStarts.count === 0;
  const isTrue = breachKinds.every((kind) => truth[kind] === 0);
  const isWhole = found.interruptedBy === null && (found.notLookedAt ?? []).length === 0;
  const isSeen = isWhole && found.expectations.every(({ isMet }) => isMet);
  return isProof && isTrue && isSeen && thresholds.every(({ isMet }) => isMet);
}

/** True when the run's only fault is a ramp that began too high. */
export const isOnlyBelowRamp = (result: RunResult): boolean => isGood(result) && isBelowRamp(result.ramp);

/** True when the run's only fault is too few observations for its scenario. */
export const isOnlyTooSmall = (result: RunResult): boolean =>
  !isBelowRamp(result.ramp) &&
  result.expectations.some(isTooSmall) &&
  isGood({ ...result, expectations: result.expectations.filter((one) => !isTooSmall(one)) });

/** True when the files of the run's own broker are worth keeping. */
export const isWorthKeeping = ({ isPassed, interruptedBy, breaches }: RunResult): boolean =>
  !isPassed && (interruptedBy === null || breaches.length > 0);

function seenOf({ ledger, judgement, commands, live, onRoad, recorded, exercised }: ResultInput): Seen {
  const connected = [...ledger.vehicles.values()].filter(({ ups }) => ups.length > 0).length;
  const replay = recorded === null ? null : { recorded, made: ledger.counts().events };
  const { noticed } = judgement;
  const exercises = exercised.filter(({ isPossible }) => isPossible);
  return { onRoad, connected, live, commands, commandsDone: countDone(ledger), noticed, replay, exercises };
}

export function resultOf(input: ResultInput): RunResult {
  const { scenario, ledger, judgement, latencies } = input;
  for (const ms of judgement.durableMs) latencies.record('durable', ms);
  for (const ms of judgement.panicMs) latencies.record('panic', ms);
  for (const { tookMs } of commandDelays(ledger, '0')) latencies.record('restore', tookMs);
  for (const { tookMs } of commandDelays(ledger, '1')) latencies.record('cut', tookMs);
  const counts = ledger.counts();
  const figures: Figures = {
    ...latencies.figures(),
    ...judgement.counts,
    'events.count': counts.acknowledged,
    'events.rate': Math.round((counts.acknowledged / Math.max(1, input.elapsedS)) * 100) / 100,
    'facts.count': counts.facts,
    connects: counts.connects,
    commands: counts.commands,
    carriedOut: countDone(ledger),
    ...judgement.noticed,
    delivered: counts.events === 0 ? 0 : Math.round((counts.acknowledged * 10_000) / counts.events) / 100,
  };
  const found = {
    counts,
    truth: judgement.counts,
    unjudged: judgement.unjudged,
    thresholds: judgeThresholds(input.thresholds, figures),
    failedStarts: input.failedStarts,
    expectations: input.interruptedBy === null ? expectationsOf(scenario, seenOf(input)) : [],
    interruptedBy: input.interruptedBy,
    notLookedAt: notLookedAtOf({ ...input, durationS: scenario.durationS }),
  };
  return {
    format: 1,
    scenario: input.name,
    title: scenario.title,
    seed: scenario.seed,
    kind: scenario.fleet.kind,
    devices: scenario.fleet.devices,
    durationS: scenario.durationS,
    startedAt: input.startedAt,
    ...found,
    facts: judgement.facts,
    commands: commandOutcomes(ledger),
    readVehicles: input.readVehicles,
    live: { seen: input.live.seen, isCounted: input.streamSight !== null },
    isPassed: isGood(found) && !isBelowRamp(input.ramp),
    figures,
    ramp: input.ramp,
    interventions: input.interventions,
    machine: input.machine,
    refusedCommands: input.commands.refused,
    approvals: input.commands.approvals,
    exercises: input.exercised,
    warnings: warningsOf(input),
    breaches: judgement.breaches.slice(0, breachesMost),
    elapsedS: input.elapsedS,
    series: completeSeries(input),
    faults: input.faults,
    routes: scenario.fleet.kind === 'tracker' ? [] : routesOf(ledger.vehicles.values()),
    brokerSight: input.brokerSight,
    setting: input.setting,
    spec: scenario,
  };
}
