// The hour itself: vehicles, faults and commands set going by intended time, until all is delivered or the time for it is over. It
// ends everything that it began, whatever happens.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cancel } from '../../src/ports.ts';
import { phaseAt, startMsOf } from '../core/deeds.ts';
import type { Ledger } from '../core/ledger.ts';
import type { ScriptedEvent } from '../core/recording.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import type { Progress } from '../core/screen.ts';
import { createSeededEntropy } from '../random.ts';
import type { MetricsAddress } from './broker-watch.ts';
import { type Commander, createCommander } from './commands.ts';
import { type FaultSchedule, scheduleFaults } from './faults.ts';
import type { FleetDevice } from './fleet.ts';
import type { RunTime } from './fleet-vehicle.ts';
import type { Latencies } from './latency.ts';
import type { OwnBroker, Target } from './own-broker.ts';
import { assertBounded } from './part.ts';
import type { Parts } from './parts.ts';
import type { RunPorts } from './ports.ts';
import { type Output, type ProgressView, showProgress } from './progress.ts';
import { driveRamp } from './ramp.ts';
import type { Recorder } from './recorder.ts';
import type { MachineFigures, RunResult } from './result.ts';
import type { Service } from './service.ts';
import { type Steering, type SteeringOptions, steer } from './steering.ts';
import type { Tap } from './tap.ts';
import { createWatcher } from './watcher.ts';

export interface RunOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly ports: RunPorts;
  /** Null: a broker of the run's own, from this build. */
  readonly target: Target | null;
  /** Where the own broker keeps its files; removed at the end unless the run failed. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Removes the devices at the end. */
  readonly isClean: boolean;
  /** Processes that share the fleet; 1: this one drives it. */
  readonly processes: number;
  /** The simulator's own program, for the processes. */
  readonly program: string;
  /** Socket for who wants to change the run while it goes on; null: nobody may. */
  readonly controlPath: string | null;
  /** A recording to be replayed by light trackers, one script for each; null: what the scenario says. */
  readonly scripts: readonly (readonly ScriptedEvent[])[] | null;
  readonly version: string;
  readonly output: Output;
  /** Where a broker that the run did not start shows its figures; nothing is looked at unless given. */
  readonly metrics?: MetricsAddress;
  /** The command line that repeats the run. */
  readonly command?: string;
}

export interface Site {
  readonly own: OwnBroker | null;
  readonly target: Target;
  readonly service: Service;
}

interface RunMachine extends MachineFigures {
  /** CPU time of each process, ms. */
  readonly eachCpuMs: readonly number[];
}

export interface Scene extends Site {
  readonly options: RunOptions;
  readonly time: RunTime;
  /** Of the whole run; see `Parts`. */
  readonly ledger: Ledger;
  readonly latencies: Latencies;
  readonly recorder: Recorder;
  readonly parts: Parts;
  readonly devices: readonly FleetDevice[];
  /** What the generator has taken until now. */
  machine(): RunMachine;
  /** Shares of the fleet whose links can be struck by hand. */
  readonly linkShares: readonly number[];
  /** Measures stretches of the run. */
  readonly tap: Tap;
  /** What parts say goes here while the run is shown. */
  onSay(say: (text: string) => void): void;
}

const pollMs = 200;

function lookOf(scene: Scene, faults: FaultSchedule) {
  const { options, ledger, time, parts } = scene;
  const { scenario } = options;
  return (): Progress => {
    const look = parts.look();
    const counts = ledger.counts();
    const nowMs = time.nowMs();
    const isOver = nowMs > scenario.durationS * 1000;
    return {
      name: options.name,
      title: scenario.title,
      elapsedS: nowMs / 1000,
      durationS: scenario.durationS,
      phase: isOver ? 'delivering' : (phaseAt(scenario.phases, nowMs)?.name ?? 'begins'),
      online: look.online,
      running: look.running,
      devices: scenario.fleet.devices,
      facts: counts.facts,
      sent: counts.sent,
      acknowledged: counts.acknowledged,
      waiting: ledger.waiting(),
      commands: counts.commands,
      faults: faults.active(),
      breaches: ledger.breaches.length + look.breaches,
    };
  };
}

/** Resolves true when the run is stopped or broken off meanwhile. */
async function pass(scene: Scene, untilMs: number, stop: { isAsked: boolean }): Promise<boolean> {
  const { time, ledger } = scene;
  while (time.nowMs() < untilMs && !stop.isAsked) {
    assertBounded(ledger.counts());
    await sleep(Math.max(1, Math.min(pollMs, untilMs - time.nowMs())));
  }
  return stop.isAsked;
}

/** Who stops a run does not wait longer than this for what is still on its way; a second signal ends it at once. */
const stoppedDrainS = 20;

/** Parts in processes of their own tell every 200 ms how they are: what they told before is not yet the end. */
const reportedMs = 500;

/** Everything that happened noticed and delivered and every command at its end, or the time for it is over. */
async function drain(scene: Scene, commander: Commander, stop: { isAsked: boolean }): Promise<void> {
  const { time, ledger, parts, options } = scene;
  const { drainS } = options.scenario;
  const beganMs = time.nowMs();
  const isTime = (): boolean =>
    time.nowMs() - beganMs < (stop.isAsked ? Math.min(drainS, stoppedDrainS) : drainS) * 1000;
  await commander.finish();
  await sleep(reportedMs);
  const isOpen = (): boolean => [...ledger.commands.values()].some(({ hasEnded }) => !hasEnded);
  const isQuiet = (): boolean => ledger.waiting() === 0 && parts.look().openFacts === 0;
  while (isTime()) {
    if (isQuiet()) {
      await commander.settle();
      if (!isOpen() && isQuiet()) return;
      await sleep(1000);
    }
    await sleep(pollMs);
  }
  await commander.settle();
}

/** The broker of the run is killed and comes back; a run whose broker stays away is over. */
function killBroker({ own, options }: Scene, forS: number, say: (text: string) => void): Cancel {
  if (own === null) return () => undefined;
  own.kill();
  options.ports.clock.after(forS * 1000, () => {
    own.restart().catch((thrown: unknown) => say(`the broker did not start again: ${String(thrown)}`));
  });
  return () => undefined;
}

/** The hours of the faults as people see them, and those that strike the broker; vehicles are struck by their parts. */
function watchFaults(scene: Scene, say: (text: string) => void): FaultSchedule {
  const { options, time } = scene;
  return scheduleFaults(
    {
      clock: options.ports.clock,
      time,
      begin: ({ kind, forS }) => (kind === 'broker-kill' ? killBroker(scene, forS, say) : () => undefined),
      onChange(fault, isActive) {
        const { kind, forS, share } = fault;
        scene.recorder.fault(fault, isActive);
        const words = `${kind} for ${forS} s, ${Math.round(share * 100)} % of the fleet`;
        say(isActive ? `fault: ${words}` : `fault over: ${kind}`);
      },
    },
    options.scenario.faults,
  );
}

/** Those that are on the road by now as intended. */
function onTheRoad({ devices, options, time }: Scene): readonly FleetDevice[] {
  const nowMs = time.nowMs();
  return devices.filter(
    ({ index }) => (startMsOf(options.scenario, index) ?? Number.POSITIVE_INFINITY) <= nowMs,
  );
}

/** What a drive leaves behind besides the ledger. */
interface Driven
  extends Pick<RunResult, 'refusedCommands' | 'failedStarts' | 'machine' | 'ramp' | 'interventions'> {
  /** When deeds ceased, and when vehicles were taken off the road, ms since the start. */
  readonly endMs: number;
  readonly offRoadMs: number;
}

async function openSteering(
  { options, parts, time, own, linkShares }: Scene,
  of: Pick<SteeringOptions, 'commander' | 'faults' | 'look' | 'say'>,
): Promise<Steering | null> {
  const { controlPath, scenario } = options;
  if (controlPath === null) return null;
  const context = () => ({ scenario, atS: time.nowMs() / 1000, ownsBroker: own !== null, linkShares });
  return steer({ ...of, path: controlPath, parts, context });
}

/** Of all processes of the generator, which this one hears. */
function startRecorder({ recorder, ledger, machine }: Scene, look: () => Progress): void {
  recorder.start(() => {
    const { online, running, waiting, breaches } = look();
    return { online, road: running, waiting, breaches, counts: ledger.counts(), machine: machine() };
  });
}

/** Drives the scenario; `stop` ends it early. */
export async function drive(scene: Scene, stop: { isAsked: boolean }): Promise<Driven> {
  const { options, time, ledger, latencies, recorder, parts, service } = scene;
  const { scenario, ports, output } = options;
  const watcher = createWatcher({ service, clock: ports.clock, time, onSeen: parts.seen });
  let view: ProgressView | null = null;
  const say = (text: string): void => void (view === null ? output.write(`${text}\n`) : view.say(text));
  scene.onSay(say);
  const faults = watchFaults(scene, say);
  const commander = createCommander({
    scenario,
    clock: ports.clock,
    time,
    entropy: createSeededEntropy(scenario.seed).stream('commands'),
    ledger,
    service,
    fleet: () => onTheRoad(scene),
  });
  const look = lookOf(scene, faults);
  startRecorder(scene, look);
  view = showProgress({ clock: ports.clock, output, latencies, environment: options.environment, look });
  let steering: Steering | null = null;
  try {
    steering = await openSteering(scene, { commander, faults, look, say });
    const { ramp: planned } = scenario;
    const onward = (untilMs: number): Promise<boolean> => pass(scene, untilMs, stop);
    const ramp = planned === undefined ? null : await driveRamp(scene, planned, { pass: onward, say });
    if (ramp === null) await onward(scenario.durationS * 1000);
    faults.close();
    parts.order({ kind: 'endDeeds' });
    const endMs = time.nowMs();
    await drain(scene, commander, stop);
    const offRoadMs = time.nowMs();
    recorder.close();
    const refusedCommands = commander.refused();
    const interventions = steering?.interventions ?? [];
    const { eachCpuMs: _, ...machine } = scene.machine();
    return {
      endMs,
      offRoadMs,
      refusedCommands,
      failedStarts: parts.look().failures,
      machine,
      ramp,
      interventions,
    };
  } finally {
    await steering?.close();
    faults.close();
    watcher.close();
    view.close();
    await parts.close();
  }
}
