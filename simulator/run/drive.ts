// The hour itself: vehicles, faults and commands set going by intended time, until all is delivered or the time for it is over. It
// ends everything that it began, whatever happens.
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../src/core/errors.ts';
import { phaseAt } from '../core/deeds.ts';
import { eventsMost, type Ledger } from '../core/ledger.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import { createSeededEntropy } from '../random.ts';
import { type Commander, createCommander } from './commands.ts';
import { type FaultSchedule, scheduleFaults } from './faults.ts';
import { createFleet, type Fleet, type FleetOptions } from './fleet.ts';
import { createAgentMaker } from './fleet-agents.ts';
import { createTrackerMaker } from './fleet-trackers.ts';
import type { RunTime } from './fleet-vehicle.ts';
import type { Latencies } from './latency.ts';
import type { Network } from './network.ts';
import type { OwnBroker, Target } from './own-broker.ts';
import type { RunPorts } from './ports.ts';
import { type Output, type Progress, type ProgressView, showProgress } from './progress.ts';
import type { Provisioned } from './provision.ts';
import type { RunResult } from './result.ts';
import type { Service } from './service.ts';
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
  readonly version: string;
  readonly output: Output;
}

export interface Site {
  readonly own: OwnBroker | null;
  readonly target: Target;
  readonly service: Service;
}

export interface Scene extends Site {
  readonly options: RunOptions;
  readonly time: RunTime;
  readonly ledger: Ledger;
  readonly latencies: Latencies;
  readonly network: Network;
  readonly devices: readonly Provisioned[];
  readonly publicKey: string;
  readonly since: string;
}

const pollMs = 200;

/** Latency of what was just acknowledged, from when the vehicle had it and could have sent it. */
function noteLatencies({ ledger, latencies }: Pick<Scene, 'ledger' | 'latencies'>) {
  return (deviceID: string, notes: readonly { readonly storedMs: number }[], nowMs: number): void => {
    const vehicle = ledger.vehicles.get(deviceID);
    const firstUpMs = vehicle?.ups[0] ?? nowMs;
    for (const { storedMs } of notes) {
      const fromMs = Math.max(storedMs, firstUpMs);
      // What a fault of the link held up on purpose says nothing about the system.
      const isHeldUp = vehicle?.excuses.some(
        ({ kind, fromMs: begin, toMs }) => kind === 'link' && begin <= nowMs && toMs >= fromMs,
      );
      if (isHeldUp !== true) latencies.record('ingest', nowMs - fromMs);
    }
  };
}

function lookOf(scene: Scene, parts: { fleet: Fleet; faults: FaultSchedule }) {
  const { options, ledger, time } = scene;
  const { scenario } = options;
  return (): Progress => {
    const running = parts.fleet.running();
    const counts = ledger.counts();
    const nowMs = time.nowMs();
    const isOver = nowMs > scenario.durationS * 1000;
    return {
      elapsedS: nowMs / 1000,
      durationS: scenario.durationS,
      phase: isOver ? 'delivering' : (phaseAt(scenario.phases, nowMs)?.name ?? 'begins'),
      online: running.filter((vehicle) => vehicle.isUp()).length,
      running: running.length,
      devices: scenario.fleet.devices,
      facts: counts.facts,
      acknowledged: counts.acknowledged,
      waiting: ledger.waiting(),
      commands: counts.commands,
      faults: parts.faults.active(),
      breaches: ledger.breaches.length,
    };
  };
}

/** Resolves true when the run is stopped or broken off meanwhile. */
async function pass(scene: Scene, untilMs: number, stop: { isAsked: boolean }): Promise<boolean> {
  const { time, ledger } = scene;
  while (time.nowMs() < untilMs && !stop.isAsked) {
    if (ledger.counts().events > eventsMost) {
      throw new AppError('usage', `The run has made more than ${eventsMost} events`, {
        hint: 'Take fewer devices, a shorter time or rarer reports.',
      });
    }
    await sleep(Math.max(1, Math.min(pollMs, untilMs - time.nowMs())));
  }
  return stop.isAsked;
}

/** Everything delivered and every command at its end, or the time for it is over. */
async function drain(scene: Scene, commander: Commander, stop: { isAsked: boolean }): Promise<void> {
  const { time, ledger, options } = scene;
  const untilMs = time.nowMs() + options.scenario.drainS * 1000;
  await commander.finish();
  const isOpen = (): boolean => [...ledger.commands.values()].some(({ hasEnded }) => !hasEnded);
  while (time.nowMs() < untilMs && !stop.isAsked) {
    if (ledger.waiting() === 0) {
      await commander.settle();
      if (!isOpen() && ledger.waiting() === 0) return;
      await sleep(1000);
    }
    await sleep(pollMs);
  }
  await commander.settle();
}

/** The broker of the run is killed and comes back; a run whose broker stays away is over. */
function killerOf({ own, options }: Scene, say: (text: string) => void): ((forMs: number) => void) | null {
  if (own === null) return null;
  return (forMs) => {
    own.kill();
    options.ports.clock.after(forMs, () => {
      own.restart().catch((thrown: unknown) => say(`the broker did not start again: ${String(thrown)}`));
    });
  };
}

/** What a drive leaves behind besides the ledger. */
interface Driven extends Pick<RunResult, 'refusedCommands' | 'failedStarts'> {
  /** When facts ceased, ms since the start. */
  readonly endMs: number;
}

/** Drives the scenario; `stop` ends it early. */
export async function drive(scene: Scene, stop: { isAsked: boolean }): Promise<Driven> {
  const { options, time, ledger, latencies, network, devices, service, target } = scene;
  const { scenario, ports, output } = options;
  const seed = createSeededEntropy(scenario.seed);
  const watcher = createWatcher({ service, ledger, latencies, clock: ports.clock, time });
  let view: ProgressView | null = null;
  const say = (text: string): void => void (view === null ? output.write(`${text}\n`) : view.say(text));
  const given: FleetOptions = {
    scenario,
    ports,
    time,
    entropy: seed,
    ledger,
    network,
    devices,
    accountID: target.login.accountID,
    publicKey: scene.publicKey,
    verifier: ports.createVerifier(scene.publicKey),
    version: options.version,
    log: { warn: (event, fields) => say(`${event}: ${JSON.stringify(fields)}`) },
    onAcknowledged: noteLatencies(scene),
  };
  const isLight = scenario.fleet.kind === 'tracker';
  const fleet = createFleet(given, isLight ? createTrackerMaker(given) : await createAgentMaker(given));
  const faults = scheduleFaults(
    {
      clock: ports.clock,
      ports,
      ledger,
      network,
      devices: devices.length,
      vehicle: (index) => fleet.vehicles[index],
      deviceIDOf: (index) => devices[index]?.deviceID ?? '',
      killBroker: killerOf(scene, say),
      say,
    },
    scenario.faults,
  );
  const commander = createCommander({
    scenario,
    clock: ports.clock,
    time,
    entropy: seed.stream('commands'),
    ledger,
    service,
    fleet: fleet.running,
  });
  view = showProgress({ clock: ports.clock, output, latencies, look: lookOf(scene, { fleet, faults }) });
  try {
    await pass(scene, scenario.durationS * 1000, stop);
    faults.close();
    fleet.endDeeds();
    const endMs = time.nowMs();
    await drain(scene, commander, stop);
    return { endMs, refusedCommands: commander.refused(), failedStarts: fleet.failures() };
  } finally {
    faults.close();
    watcher.close();
    view.close();
    await fleet.close();
  }
}
