// All parts of a fleet, as one: orders go to each, what they measure and count is summed, and their notes are laid into the ledger of
// the run at the end. One part runs in this process; several have a process each. It decides nothing.
import type { Cancel } from '../../src/ports.ts';
import type { Ledger } from '../core/ledger.ts';
import type { LedgerCounts } from '../core/ledger-types.ts';
import type { RunTime } from './fleet-vehicle.ts';
import { createLagMeter } from './latency.ts';
import {
  createPart,
  noLook,
  type Part,
  type PartHandlers,
  type PartLook,
  type PartOrder,
  type PartSetup,
  type Sighting,
} from './part.ts';
import { type ChildPart, startChildPart } from './part-child.ts';
import { hrMs } from './part-messages.ts';
import type { RunPorts } from './ports.ts';

export interface PartsOptions {
  /** One for each part; with one, it runs in this process. */
  readonly setups: readonly PartSetup[];
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly ports: RunPorts;
  readonly ledger: Ledger;
  readonly handlers: PartHandlers;
  /** How late the slowest process was at most since the last report, ms; where parts have processes of their own. */
  onLag(ms: number): void;
}

export interface PartsMachine {
  readonly processes: number;
  /** Of all processes of parts; this process is not among them. */
  readonly cpuMs: number;
  readonly eachCpuMs: readonly number[];
  readonly rssMb: number;
  readonly startRssMb: number;
}

export interface Parts {
  /** The run's ledger; while parts run, its counts and what waits are theirs too. */
  readonly ledger: Ledger;
  /** Puts the vehicles on the road, and gives the time of the run. */
  begin(): Promise<RunTime>;
  look(): PartLook;
  order(order: PartOrder): void;
  /** People saw an event. */
  seen(sighting: Sighting): void;
  machine(): PartsMachine;
  /** Rejects when a process of a part fails or ends; never resolves. */
  readonly failed: Promise<never>;
  /** Takes all off the road and lays what was noted into the ledger. */
  close(): Promise<void>;
  /** At once, without a word; nothing where it was closed. */
  kill(): void;
}

/** Processes hear of it this long before the run begins. */
const leadMs = 300;
const sightingsEveryMs = 200;
const lagEveryMs = 200;
const sightingsMost = 100_000;

const sum = (of: readonly number[]): number => of.reduce((total, value) => total + value, 0);

function sumCounts(all: readonly LedgerCounts[]): LedgerCounts {
  const total = (name: keyof LedgerCounts): number => sum(all.map((counts) => counts[name]));
  const names = Object.keys(noLook.counts) as (keyof LedgerCounts)[];
  return Object.fromEntries(names.map((name) => [name, total(name)])) as unknown as LedgerCounts;
}

function sumLooks(looks: readonly PartLook[]): PartLook {
  const total = (name: 'online' | 'running' | 'waiting' | 'openFacts' | 'breaches'): number =>
    sum(looks.map((look) => look[name]));
  return {
    online: total('online'),
    running: total('running'),
    waiting: total('waiting'),
    openFacts: total('openFacts'),
    breaches: total('breaches'),
    counts: sumCounts(looks.map(({ counts }) => counts)),
    failures: {
      count: sum(looks.map(({ failures }) => failures.count)),
      last: looks.findLast(({ failures }) => failures.count > 0)?.failures.last ?? '',
    },
  };
}

/** Hands what was seen to the part whose vehicle it is, some at a time. */
function createSightings(
  setups: readonly PartSetup[],
  hand: (no: number, list: readonly Sighting[]) => void,
) {
  const ownerOf = new Map(setups.flatMap(({ no, devices }) => devices.map(({ deviceID }) => [deviceID, no])));
  const waiting = setups.map((): Sighting[] => []);
  const flush = (): void => {
    for (const [no, list] of waiting.entries()) if (list.length > 0) hand(no, list.splice(0));
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

interface Crew {
  readonly parts: readonly Part[];
  readonly children: readonly ChildPart[];
  isOver: boolean;
}

function createParts(options: PartsOptions, children: readonly ChildPart[]): Parts {
  const { setups, ports, ledger, handlers } = options;
  // Each reports once before it is ready.
  const startRssMb = sum(children.map((child) => child.look().rssMb));
  const failed = Promise.race([
    new Promise<never>(() => undefined),
    ...children.map((child) => child.failed),
  ]);
  failed.catch(() => undefined); // whoever waits hears it
  const endLag = children.length === 0 ? () => undefined : watchLag(options);
  let crew: Crew = { parts: children, children, isOver: false };
  const look = (): PartLook => (crew.isOver ? noLook : sumLooks(crew.parts.map((part) => part.look())));
  const sightings = createSightings(setups, (no, list) =>
    crew.parts[no]?.order({ kind: 'seen', sightings: list }),
  );
  return {
    ledger: {
      ...ledger,
      counts: () => sumCounts([ledger.counts(), look().counts]),
      waiting: () => ledger.waiting() + look().waiting,
    },
    async begin() {
      const startMs = ports.clock.monoMs() + (children.length === 0 ? 0 : leadMs);
      const time: RunTime = { nowMs: () => ports.clock.monoMs() - startMs };
      for (const child of children) child.begin(hrMs() + leadMs);
      const [setup] = setups;
      if (children.length === 0 && setup !== undefined)
        crew = { ...crew, parts: [await createPart(setup, { ports, time, handlers })] };
      return time;
    },
    look,
    order(order) {
      for (const part of crew.parts) part.order(order);
    },
    seen: sightings.add,
    machine: () => ({
      processes: Math.max(1, children.length),
      cpuMs: sum(children.map((child) => child.look().cpuMs)),
      eachCpuMs: children.map((child) => child.look().cpuMs),
      rssMb: sum(children.map((child) => child.look().rssMb)),
      startRssMb,
    }),
    failed,
    async close() {
      sightings.close();
      endLag();
      const notes = await Promise.all(crew.parts.map((part) => part.close()));
      crew.isOver = true;
      for (const one of notes) ledger.take(one);
    },
    kill() {
      sightings.close();
      endLag();
      for (const child of children) child.kill();
    },
  };
}

/** Makes the processes ready, where there are several parts. @throws AppError `unavailable`. */
export async function openParts(options: PartsOptions): Promise<Parts> {
  const { setups, program, environment, handlers } = options;
  const started: ChildPart[] = [];
  try {
    for (const setup of setups.length === 1 ? [] : setups)
      started.push(
        await startChildPart({
          program,
          environment,
          setup,
          handlers,
          onLook: ({ lagMs }) => options.onLag(lagMs),
        }),
      );
  } catch (thrown) {
    for (const child of started) child.kill();
    throw thrown;
  }
  return createParts(options, started);
}

/** This process is late for itself too: it hears, hands on and shows. Gives the way to stop. */
function watchLag({ ports, onLag }: PartsOptions): Cancel {
  const meter = createLagMeter(ports.clock);
  const timer = setInterval(() => onLag(meter.takeMs()), lagEveryMs);
  return () => {
    clearInterval(timer);
    meter.close();
  };
}

/** More connections than this are too many open files for one process. */
export const connectionsMost = 19_000;
const agentsEach = 50;
const trackersEach = 2000;

/** As many processes as the machine has cores, but none with next to nothing to do. */
export function processesFor(
  fleet: { readonly kind: 'agent' | 'tracker'; readonly devices: number },
  cores: number,
): number {
  const each = fleet.kind === 'agent' ? agentsEach : trackersEach;
  return Math.max(1, Math.min(cores, Math.ceil(fleet.devices / each)));
}
