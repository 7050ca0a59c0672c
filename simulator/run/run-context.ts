// The options of a run, its access to the broker, and the context that its steps share. Types only.
import type { Ledger } from '../core/ledger/ledger.ts';
import type { Scenario } from '../core/scenario/scenario-schema.ts';
import type { ScriptedEvent } from '../core/traffic/recording.ts';
import type { RunWorld } from './facts/facts-file.ts';
import type { FleetDevice } from './fleet/fleet.ts';
import type { MetricsAddress } from './measure/broker-watch.ts';
import type { IntervalMetrics } from './measure/interval-metrics.ts';
import type { Latencies } from './measure/latency.ts';
import { type Output } from './measure/progress.ts';
import type { Recorder } from './measure/recorder.ts';
import type { MachineFigures } from './measure/result.ts';
import type { BrokerAccess, Target } from './service/broker-access.ts';
import type { RunPorts } from './shared/run-ports.ts';
import { type RunTime } from './shared/run-ports.ts';
import type { Workers } from './workers/workers.ts';

export interface RunOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly ports: RunPorts;
  /** Null: the run starts a broker of its own, from this build. */
  readonly target: Target | null;
  /** Files of the run's own broker; removed at the end unless the run failed. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Delete the devices at the end, also when the run failed. */
  readonly isClean: boolean;
  /** Worker processes that share the fleet; 1: it runs in this process. */
  readonly processes: number;
  /** The simulator's own program, for worker processes. */
  readonly program: string;
  /** Control socket through which the run can be changed; null: none. */
  readonly controlPath: string | null;
  /** A recording to replay, one script for each light tracker; null: the scenario decides. */
  readonly scripts: readonly (readonly ScriptedEvent[])[] | null;
  readonly version: string;
  readonly output: Output;
  /** Metrics of a broker that the run did not start; absent: not watched. */
  readonly metrics?: MetricsAddress;
  /** The command line that repeats the run. */
  readonly command?: string;
  /** Called with the devices that a run makes before it makes them, and with those that are left after their deletion. */
  onDevices?(ids: readonly string[]): void;
  /** Called at the end with what happened in the simulated world. */
  onWorld?(world: RunWorld): void;
}

export interface RunMachine extends MachineFigures {
  /** CPU time of each process, ms. */
  readonly eachCpuMs: readonly number[];
}

export interface RunContext extends BrokerAccess {
  readonly options: RunOptions;
  readonly time: RunTime;
  /** Of the whole run; see `Workers`. */
  readonly ledger: Ledger;
  readonly latencies: Latencies;
  readonly recorder: Recorder;
  readonly workers: Workers;
  readonly devices: readonly FleetDevice[];
  /** What the generator has used until now. */
  machine(): RunMachine;
  /** Measures the steps of a ramp. */
  readonly intervalMetrics: IntervalMetrics;
  /** Redirects the lines that workers print. */
  setPrinter(print: (text: string) => void): void;
}
