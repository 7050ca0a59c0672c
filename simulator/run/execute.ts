// Runs the scenario on schedule - vehicles, faults, commands - then waits for delivery. It ends everything that it began, whatever
// happens.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cancel } from '../../src/ports.ts';
import type { StreamSight } from '../core/judgement/judgement-alerts.ts';
import type { Progress } from '../core/live/screen.ts';
import { createSeededEntropy } from '../core/random.ts';
import { phaseAt, startMsOf } from '../core/scenario/scripted-actions.ts';
import { beginExercises, type RunningExercises } from './exercises/exercises.ts';
import type { FleetDevice } from './fleet/fleet.ts';
import { type FaultSchedule, scheduleFaults } from './link/fault-schedule.ts';
import { type ProgressView, showProgress } from './measure/progress.ts';
import type { RunResult } from './measure/result.ts';
import { executeRamp } from './ramp.ts';
import type { RunContext } from './run-context.ts';
import { type RunControl, type RunControlOptions, startRunControl } from './run-control.ts';
import { type CommandSender, type CommandTally, createCommandSender } from './service/command-sender.ts';
import { watchLiveStream } from './service/live-stream.ts';
import { assertBounded } from './workers/worker.ts';

const pollMs = 200;
/** A second live stream is read for so long each time, as by a console on a bad network. */
const resumeEveryMs = 4000;

function progressOf(context: RunContext, faults: FaultSchedule) {
  const { options, ledger, time, workers } = context;
  const { scenario } = options;
  return (): Progress => {
    const status = workers.status();
    const counts = ledger.counts();
    const nowMs = time.nowMs();
    const isOver = nowMs > scenario.durationS * 1000;
    return {
      name: options.name,
      title: scenario.title,
      elapsedS: nowMs / 1000,
      durationS: scenario.durationS,
      phase: isOver ? 'delivering' : (phaseAt(scenario.phases, nowMs)?.name ?? 'starting'),
      online: status.online,
      running: status.running,
      devices: scenario.fleet.devices,
      facts: counts.facts,
      sent: counts.sent,
      acknowledged: counts.acknowledged,
      waiting: ledger.waiting(),
      commands: counts.commands,
      faults: faults.active(),
      breaches: ledger.breaches.length + status.breaches,
    };
  };
}

/** Resolves true when the run is stopped meanwhile. */
async function waitUntil(context: RunContext, untilMs: number, stop: { isAsked: boolean }): Promise<boolean> {
  const { time, ledger } = context;
  while (time.nowMs() < untilMs && !stop.isAsked) {
    assertBounded(ledger.counts());
    await sleep(Math.max(1, Math.min(pollMs, untilMs - time.nowMs())));
  }
  return stop.isAsked;
}

/** A stopped run waits no longer than this for deliveries; a second signal ends it at once. */
export const stoppedDrainS = 20;

/** Worker processes report every 200 ms: an older report is not yet the end. */
const reportedMs = 500;

/** Waits until every event is delivered and every command has ended, or the time for that is over. */
async function drain(
  context: RunContext,
  commandSender: CommandSender,
  stop: { isAsked: boolean },
): Promise<void> {
  const { time, ledger, workers, options } = context;
  const { drainS } = options.scenario;
  const beganMs = time.nowMs();
  const isTime = (): boolean =>
    time.nowMs() - beganMs < (stop.isAsked ? Math.min(drainS, stoppedDrainS) : drainS) * 1000;
  await commandSender.finish();
  await sleep(reportedMs);
  const isOpen = (): boolean => [...ledger.commands.values()].some(({ hasEnded }) => !hasEnded);
  const isQuiet = (): boolean => ledger.waiting() === 0 && workers.status().openFacts === 0;
  while (isTime()) {
    if (isQuiet()) {
      await commandSender.updateStates();
      if (!isOpen() && isQuiet()) return;
      await sleep(1000);
    }
    await sleep(pollMs);
  }
  await commandSender.updateStates();
}

/** Kills the run's own broker and starts it again after `forS`. */
function killBroker({ own, options }: RunContext, forS: number, print: (text: string) => void): Cancel {
  if (own === null) return () => undefined;
  own.kill();
  options.ports.clock.after(forS * 1000, () => {
    own.restart().catch((thrown: unknown) => print(`The broker did not start again: ${String(thrown)}`));
  });
  return () => undefined;
}

/** Shows and records all faults and executes those of the broker; workers execute those of vehicles. */
function startFaultSchedule(context: RunContext, print: (text: string) => void): FaultSchedule {
  const { options, time } = context;
  return scheduleFaults(
    {
      clock: options.ports.clock,
      time,
      begin: ({ kind, forS }) =>
        kind === 'broker-kill' ? killBroker(context, forS, print) : () => undefined,
      onChange(fault, isActive) {
        const { kind, forS, share } = fault;
        context.recorder.fault(fault, isActive);
        const span = `${kind} for ${forS} s, ${Math.round(share * 100)} % of the fleet`;
        print(isActive ? `fault: ${span}` : `fault over: ${kind}`);
      },
    },
    options.scenario.faults,
  );
}

/** Vehicles whose intended start has passed. */
function startedDevices({ devices, options, time }: RunContext): readonly FleetDevice[] {
  const nowMs = time.nowMs();
  return devices.filter(
    ({ index }) => (startMsOf(options.scenario, index) ?? Number.POSITIVE_INFINITY) <= nowMs,
  );
}

/** The outcome of an execution besides the ledger. */
interface Execution extends Pick<RunResult, 'failedStarts' | 'machine' | 'ramp' | 'interventions'> {
  readonly commands: CommandTally;
  /** Events of the run on the live stream, and why it ended last. */
  readonly live: { readonly seen: number; readonly reason: string };
  /** What was on the live stream; null: not known. */
  readonly streamSight: StreamSight | null;
  /** The same, and of a stream that was interrupted again and again; without those that are not known. */
  readonly streamSights: readonly StreamSight[];
  readonly exercises: RunningExercises;
  /** Vehicles that should have started before the end of the actions. */
  readonly onRoad: number;
  /** End of the actions, and closing time of the vehicles, ms of the run. */
  readonly endMs: number;
  readonly offRoadMs: number;
}

async function openControl(
  { options, workers, time, own, linkShares }: RunContext,
  of: Pick<RunControlOptions, 'commandSender' | 'faults' | 'progress' | 'print'>,
): Promise<RunControl | null> {
  const { controlPath, scenario } = options;
  if (controlPath === null) return null;
  const context = () => ({ scenario, atS: time.nowMs() / 1000, ownsBroker: own !== null, linkShares });
  return startRunControl({ ...of, path: controlPath, workers, context });
}

function startRecorder({ recorder, ledger, machine }: RunContext, progress: () => Progress): void {
  recorder.start(() => {
    const { online, running, waiting, breaches } = progress();
    return { online, road: running, waiting, breaches, counts: ledger.counts(), machine: machine() };
  });
}

/** Executes the scenario; `stop` ends it early. */
export async function execute(context: RunContext, stop: { isAsked: boolean }): Promise<Execution> {
  const { options, time, ledger, latencies, recorder, workers, service } = context;
  const { scenario, ports, output } = options;
  const own = new Set(context.devices.map(({ deviceID }) => deviceID));
  const hasDevices = scenario.fleet.kind === 'agent';
  const isOwn = (deviceID: string): boolean => own.has(deviceID);
  const watched = { service, clock: ports.clock, time, isOwn, hasDevices };
  const liveStream = watchLiveStream({ ...watched, onSeen: workers.seen });
  const resumed = hasDevices ? watchLiveStream({ ...watched, readMs: resumeEveryMs }) : null;
  let view: ProgressView | null = null;
  const print = (text: string): void => void (view === null ? output.write(`${text}\n`) : view.print(text));
  context.setPrinter(print);
  const faults = startFaultSchedule(context, print);
  const commandSender = createCommandSender({
    scenario,
    clock: ports.clock,
    time,
    entropy: createSeededEntropy(scenario.seed).stream('commands'),
    ledger,
    service,
    approver: context.approver,
    startedDevices: () => startedDevices(context),
  });
  const progress = progressOf(context, faults);
  startRecorder(context, progress);
  view = showProgress({ clock: ports.clock, output, latencies, environment: options.environment, progress });
  const exercises = beginExercises(context, stop);
  let control: RunControl | null = null;
  try {
    control = await openControl(context, { commandSender, faults, progress, print });
    const { ramp: planned } = scenario;
    const wait = (untilMs: number): Promise<boolean> => waitUntil(context, untilMs, stop);
    const ramp =
      planned === undefined ? null : await executeRamp(context, planned, { waitUntil: wait, print });
    if (ramp === null) await wait(scenario.durationS * 1000);
    await exercises.finish();
    faults.close();
    workers.instruct({ kind: 'stopActivity' });
    const endMs = time.nowMs();
    // A ramp that has found its knee starts no further vehicle.
    const onRoad =
      ramp === null
        ? startedDevices(context).length
        : workers.status().running + workers.status().failures.count;
    await drain(context, commandSender, stop);
    await Promise.all([liveStream.settle(), resumed?.settle()]);
    const offRoadMs = time.nowMs();
    recorder.close();
    const interventions = control?.interventions ?? [];
    const { eachCpuMs: _, ...machine } = context.machine();
    return {
      endMs,
      offRoadMs,
      commands: commandSender.tally(),
      live: liveStream.state(),
      streamSight: liveStream.sight(),
      streamSights: [liveStream.sight(), resumed?.sight() ?? null].filter((sight) => sight !== null),
      exercises,
      onRoad,
      failedStarts: workers.status().failures,
      machine,
      ramp,
      interventions,
    };
  } finally {
    await control?.close();
    commandSender.close();
    faults.close();
    liveStream.close();
    resumed?.close();
    view.close();
    await workers.close();
  }
}
