// All workers of a run as one: it forwards instructions, sums counters, and merges the notes into the run's ledger at the end. A
// single worker runs in this process; several have a process each.
import type { Cancel } from '../../../src/ports.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { LedgerCounts } from '../../core/ledger/ledger-types.ts';
import { type Sighting } from '../../core/ledger/ledger-types.ts';
import { createLagMeter } from '../measure/latency.ts';
import type { RunPorts } from '../shared/run-ports.ts';
import { type RunTime } from '../shared/run-ports.ts';
import {
  createWorker,
  emptyStatus,
  type Worker,
  type WorkerHandlers,
  type WorkerInstruction,
  type WorkerSetup,
  type WorkerStatus,
} from './worker.ts';
import { hrMs } from './worker-messages.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

export interface WorkersOptions {
  /** One for each worker; with one, it runs in this process. */
  readonly setups: readonly WorkerSetup[];
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly ports: RunPorts;
  readonly ledger: Ledger;
  readonly handlers: WorkerHandlers;
  /** Greatest event loop delay of a process since its last report, ms; called where workers have processes of their own. */
  onLag(ms: number): void;
}

export interface WorkersMachine {
  readonly processes: number;
  /** Of all worker processes; this process is not included. */
  readonly cpuMs: number;
  readonly eachCpuMs: readonly number[];
  readonly rssMb: number;
  readonly startRssMb: number;
}

export interface Workers {
  /** The ledger of the run; its counts include those of running workers. */
  readonly ledger: Ledger;
  /** Starts the vehicles. @returns the time of the run. */
  begin(): Promise<RunTime>;
  status(): WorkerStatus;
  instruct(instruction: WorkerInstruction): void;
  /** The live stream has shown an event. */
  seen(sighting: Sighting): void;
  machine(): WorkersMachine;
  /** Rejects when a worker process fails or ends; never resolves. */
  readonly failed: Promise<never>;
  /** Closes all vehicles and merges the notes of the workers into the ledger. */
  close(): Promise<void>;
  /** Ends the worker processes at once; does nothing after `close`. */
  kill(): void;
}

/** Worker processes learn the start this long before it. */
const leadMs = 300;
const sightingsEveryMs = 200;
const lagEveryMs = 200;
const sightingsMost = 100_000;

const sum = (of: readonly number[]): number => of.reduce((total, value) => total + value, 0);

function sumCounts(all: readonly LedgerCounts[]): LedgerCounts {
  const total = (name: keyof LedgerCounts): number => sum(all.map((counts) => counts[name]));
  const names = Object.keys(emptyStatus.counts) as (keyof LedgerCounts)[];
  return Object.fromEntries(names.map((name) => [name, total(name)])) as unknown as LedgerCounts;
}

function sumStatus(all: readonly WorkerStatus[]): WorkerStatus {
  const total = (name: 'online' | 'running' | 'waiting' | 'openFacts' | 'breaches'): number =>
    sum(all.map((status) => status[name]));
  return {
    online: total('online'),
    running: total('running'),
    waiting: total('waiting'),
    openFacts: total('openFacts'),
    breaches: total('breaches'),
    counts: sumCounts(all.map(({ counts }) => counts)),
    failures: {
      count: sum(all.map(({ failures }) => failures.count)),
      last: all.findLast(({ failures }) => failures.count > 0)?.failures.last ?? '',
    },
  };
}

/** Forwards each sighting to the worker of its vehicle, in batches. */
function createSightings(
  setups: readonly WorkerSetup[],
  forward: (no: number, list: readonly Sighting[]) => void,
) {
  const ownerOf = new Map(setups.flatMap(({ no, devices }) => devices.map(({ deviceID }) => [deviceID, no])));
  const waiting = setups.map((): Sighting[] => []);
  const flush = (): void => {
    for (const [no, list] of waiting.entries()) if (list.length > 0) forward(no, list.splice(0));
  };
  const timer = setInterval(flush, sightingsEveryMs);
  return {
    add(sighting: Sighting): void {
      const list = waiting[ownerOf.get(sighting.deviceID) ?? -1];
      if (list !== undefined && list.length < sightingsMost) list.push(sighting);
    },
    close(): void {
      clearInterval(timer);
      flush();
    },
  };
}

interface RunningWorkers {
  readonly workers: readonly Worker[];
  readonly children: readonly WorkerProcess[];
  isOver: boolean;
}

function createWorkers(options: WorkersOptions, children: readonly WorkerProcess[]): Workers {
  const { setups, ports, ledger, handlers } = options;
  // Every child has reported once before it was ready.
  const startRssMb = sum(children.map((child) => child.status().rssMb));
  const failed = Promise.race([
    new Promise<never>(() => undefined),
    ...children.map((child) => child.failed),
  ]);
  failed.catch(() => undefined); // a rejection that is not awaited yet is not unhandled
  const endLag = children.length === 0 ? () => undefined : watchLag(options);
  let running: RunningWorkers = { workers: children, children, isOver: false };
  const status = (): WorkerStatus =>
    running.isOver ? emptyStatus : sumStatus(running.workers.map((worker) => worker.status()));
  const sightings = createSightings(setups, (no, list) =>
    running.workers[no]?.instruct({ kind: 'seen', sightings: list }),
  );
  return {
    ledger: {
      ...ledger,
      counts: () => sumCounts([ledger.counts(), status().counts]),
      waiting: () => ledger.waiting() + status().waiting,
    },
    async begin() {
      const startMs = ports.clock.monoMs() + (children.length === 0 ? 0 : leadMs);
      const time: RunTime = { nowMs: () => ports.clock.monoMs() - startMs };
      for (const child of children) child.begin(hrMs() + leadMs);
      const [setup] = setups;
      if (children.length === 0 && setup !== undefined)
        running = { ...running, workers: [await createWorker(setup, { ports, time, handlers })] };
      return time;
    },
    status,
    instruct(instruction) {
      for (const worker of running.workers) worker.instruct(instruction);
    },
    seen: sightings.add,
    machine: () => ({
      processes: Math.max(1, children.length),
      cpuMs: sum(children.map((child) => child.status().cpuMs)),
      eachCpuMs: children.map((child) => child.status().cpuMs),
      rssMb: sum(children.map((child) => child.status().rssMb)),
      startRssMb,
    }),
    failed,
    async close() {
      sightings.close();
      endLag();
      const notes = await Promise.all(running.workers.map((worker) => worker.close()));
      running.isOver = true;
      for (const one of notes) ledger.merge(one);
    },
    kill() {
      sightings.close();
      endLag();
      for (const child of children) child.kill();
    },
  };
}

/** Starts the worker processes where there are several workers. @throws AppError `unavailable`. */
export async function openWorkers(options: WorkersOptions): Promise<Workers> {
  const { setups, program, environment, handlers } = options;
  const started: WorkerProcess[] = [];
  try {
    for (const setup of setups.length === 1 ? [] : setups)
      started.push(
        await startWorkerProcess({
          program,
          environment,
          setup,
          handlers,
          onStatus: ({ lagMs }) => options.onLag(lagMs),
        }),
      );
  } catch (thrown) {
    for (const child of started) child.kill();
    throw thrown;
  }
  return createWorkers(options, started);
}

/** Measures the event loop delay of this process, which forwards and shows. @returns the way to stop. */
function watchLag({ ports, onLag }: WorkersOptions): Cancel {
  const meter = createLagMeter(ports.clock);
  const timer = setInterval(() => onLag(meter.readMs()), lagEveryMs);
  return () => {
    clearInterval(timer);
    meter.close();
  };
}

/** One process has no file descriptors for more connections. */
export const connectionsMost = 19_000;
const agentsEach = 50;
const trackersEach = 2000;

/**
 * One process for each free core, as far as the fleet needs them; a broker of the run's own takes one core. Two processes beside
 * their broker on two cores are slower than one.
 */
export function processesFor(
  fleet: { readonly kind: 'agent' | 'tracker'; readonly devices: number },
  machine: { readonly cores: number; readonly hasBroker: boolean },
): number {
  const free = machine.cores - (machine.hasBroker ? 1 : 0);
  const each = fleet.kind === 'agent' ? agentsEach : trackersEach;
  return Math.max(1, Math.min(free, Math.ceil(fleet.devices / each)));
}
