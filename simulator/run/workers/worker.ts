// One worker: some vehicles of the fleet with their network, faults and ledger, in one process. It takes instructions, reports
// latencies, and returns its ledger notes at the end, equally in the main process or a separate one.
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { createLedger, eventsMost } from '../../core/ledger/ledger.ts';
import type { LedgerCounts, LedgerNotes, Sighting, VehicleNotes } from '../../core/ledger/ledger-types.ts';
import { countOpenFacts } from '../../core/ledger/open-facts.ts';
import { createSeededEntropy } from '../../core/random.ts';
import type { Fault, Scenario } from '../../core/scenario/scenario-schema.ts';
import type { MeasuredName } from '../../core/scenario/thresholds.ts';
import type { ScriptedEvent } from '../../core/traffic/recording.ts';
import { createAgentStarter } from '../fleet/agent-starter.ts';
import { type CrewAct, createCrews } from '../fleet/crew.ts';
import {
  createFleet,
  type Fleet,
  type FleetDevice,
  type FleetOptions,
  type RateChange,
} from '../fleet/fleet.ts';
import { createTrackerStarter } from '../fleet/tracker-starter.ts';
import { begin, excuse, type VehicleFaultOptions } from '../fleet/vehicle-faults.ts';
import { scheduleFaults } from '../link/fault-schedule.ts';
import { createNetwork, type Network } from '../link/network.ts';
import { watchStalls } from '../measure/latency.ts';
import type { RunPorts } from '../shared/run-ports.ts';
import { type RunTime } from '../shared/run-ports.ts';

/** Which vehicles a worker drives, and where they connect. Plain data. */
export interface WorkerSetup {
  readonly no: number;
  readonly scenario: Scenario;
  readonly devices: readonly FleetDevice[];
  readonly accountID: string;
  readonly publicKey: string;
  readonly mqttUrl: string;
  /** PEM; null: the system's list of authorities. */
  readonly ca: string | null;
  /** Shares of the fleet whose links can be struck besides those that the scenario strikes. */
  readonly linkShares: readonly number[];
  /** Where vehicles keep their disks; null: in memory. */
  readonly folder: string | null;
  /** Events of light trackers, by number; null: periodic events. */
  readonly scripts: ReadonlyMap<number, readonly ScriptedEvent[]> | null;
  readonly version: string;
}

/** The state of a worker's vehicles. Plain data. */
export interface WorkerStatus {
  readonly online: number;
  readonly running: number;
  /** Events that must be delivered and are not acknowledged yet. */
  readonly waiting: number;
  /** Facts from before `stopActivity` whose event may still come; 0 until then. */
  readonly openFacts: number;
  readonly breaches: number;
  readonly counts: LedgerCounts;
  readonly failures: { readonly count: number; readonly last: string };
}

export type WorkerInstruction =
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'rate'; readonly rate: RateChange }
  /** No further actions; events that are stored from then on need not be delivered. */
  | { readonly kind: 'stopActivity' }
  | { readonly kind: 'crew'; readonly deviceID: string; readonly act: CrewAct }
  | { readonly kind: 'seen'; readonly sightings: readonly Sighting[] };

export interface WorkerHandlers {
  onLatency(name: MeasuredName, ms: number): void;
  say(text: string): void;
}

export interface Worker {
  status(): WorkerStatus;
  instruct(instruction: WorkerInstruction): void;
  /** Closes all vehicles and returns the notes of their ledger. */
  close(): Promise<LedgerNotes>;
}

const emptyCounts: LedgerCounts = {
  facts: 0,
  events: 0,
  sent: 0,
  acknowledged: 0,
  shown: 0,
  commands: 0,
  connects: 0,
};

export const emptyStatus: WorkerStatus = {
  online: 0,
  running: 0,
  waiting: 0,
  openFacts: 0,
  breaches: 0,
  counts: emptyCounts,
  failures: { count: 0, last: '' },
};

/**
 * True when the link was down or under a fault between `fromMs` and `nowMs`: such a latency measures the outage, not the
 * connected system.
 */
function wasHeldUp({ ups, excuses }: VehicleNotes, fromMs: number, nowMs: number): boolean {
  const lastUpMs = ups.findLast((upMs) => upMs <= nowMs) ?? fromMs;
  return (
    lastUpMs > fromMs ||
    excuses.some((excuse) => excuse.kind === 'link' && excuse.fromMs <= nowMs && excuse.toMs >= fromMs)
  );
}

/** Latency of acknowledged events, counted from their storing, but not from before the first connection of the vehicle. */
function recordLatencies(
  ledger: FleetOptions['ledger'],
  handlers: WorkerHandlers,
): FleetOptions['onAcknowledged'] {
  return (deviceID, notes, nowMs) => {
    const vehicle = ledger.vehicles.get(deviceID);
    if (vehicle === undefined) return;
    const firstUpMs = vehicle.ups[0] ?? nowMs;
    for (const { storedMs } of notes) {
      const fromMs = Math.max(storedMs, firstUpMs);
      handlers.onLatency(wasHeldUp(vehicle, fromMs, nowMs) ? 'outage' : 'ingest', nowMs - fromMs);
    }
  };
}

interface WorkerContext {
  readonly ledger: FleetOptions['ledger'];
  readonly fleet: Fleet;
  readonly network: Network;
  endStalls(): void;
}

function createWorkerOf(
  setup: WorkerSetup,
  given: { readonly ports: RunPorts; readonly time: RunTime; readonly handlers: WorkerHandlers },
  context: WorkerContext,
): Worker {
  const { ledger, fleet, network } = context;
  const { ports, time, handlers } = given;
  const faultOptions: VehicleFaultOptions = {
    clock: ports.clock,
    ports,
    ledger,
    network,
    fleetSize: setup.scenario.fleet.devices,
    devices: setup.devices,
    vehicle: fleet.vehicle,
    say: handlers.say,
  };
  const mine = setup.scenario.faults.filter(({ kind }) => kind !== 'broker-kill');
  for (const fault of mine) excuse(faultOptions, fault);
  // Replayed events have no facts in this run: excuse them from the comparison.
  for (const { deviceID } of setup.scripts === null ? [] : setup.devices)
    ledger.excuse(deviceID, { kind: 'hardware', fromMs: 0, toMs: Number.MAX_SAFE_INTEGER });
  const faults = scheduleFaults(
    { clock: ports.clock, time, begin: (fault) => begin(faultOptions, fault) },
    mine,
  );
  const crews = createCrews(ledger, fleet);
  let endMs: number | null = null;
  const stopActivity = (): void => {
    faults.close();
    fleet.stopActivity();
    endMs = time.nowMs();
    for (const deviceID of ledger.vehicles.keys()) ledger.stopping(deviceID, endMs);
  };
  return {
    status: () => ({
      online: fleet.running().reduce((sum, vehicle) => sum + (vehicle.isUp() ? 1 : 0), 0),
      running: fleet.running().length,
      waiting: ledger.waiting(),
      openFacts:
        endMs === null ? 0 : countOpenFacts(ledger.vehicles.values(), { nowMs: time.nowMs(), endMs }),
      breaches: ledger.breaches.length,
      counts: ledger.counts(),
      failures: fleet.failures(),
    }),
    instruct(instruction) {
      switch (instruction.kind) {
        case 'fault':
          excuse(faultOptions, instruction.fault);
          return endMs === null ? faults.add(instruction.fault) : undefined;
        case 'rate':
          return endMs === null ? fleet.setRate(instruction.rate) : undefined;
        case 'stopActivity':
          return stopActivity();
        case 'crew':
          return crews.act(instruction.deviceID, instruction.act);
        case 'seen':
          for (const { deviceID, eventID, atMs } of instruction.sightings) {
            const storedMs = ledger.storedMsOf(deviceID, eventID);
            const vehicle = ledger.vehicles.get(deviceID);
            if (storedMs === null || vehicle === undefined) continue;
            // As for acknowledged events: counted from the first connection, and without outages.
            const fromMs = Math.max(storedMs, vehicle.ups[0] ?? 0);
            if (!wasHeldUp(vehicle, fromMs, atMs)) handlers.onLatency('visible', atMs - fromMs);
          }
      }
    },
    async close() {
      faults.close();
      await crews.idle();
      await fleet.close();
      context.endStalls();
      await network.close();
      return ledger.notes();
    },
  };
}

/**
 * Starts a worker: each vehicle starts at its intended moment of `time`.
 * @throws AppError as `createNetwork` does, `config` when the settings of the vehicles or a track are wrong.
 */
export async function createWorker(
  setup: WorkerSetup,
  given: { readonly ports: RunPorts; readonly time: RunTime; readonly handlers: WorkerHandlers },
): Promise<Worker> {
  const { ports, time, handlers } = given;
  const { scenario } = setup;
  const seed = createSeededEntropy(scenario.seed);
  const ledger = createLedger();
  const network = await createNetwork({
    mqttUrl: setup.mqttUrl,
    devices: scenario.fleet.devices,
    faults: scenario.faults,
    shares: setup.linkShares,
    clock: ports.clock,
    entropy: seed.stream(`network ${setup.no}`),
  });
  const options: FleetOptions = {
    scenario,
    ports,
    time,
    entropy: seed,
    ledger,
    network,
    devices: setup.devices,
    accountID: setup.accountID,
    ca: setup.ca,
    publicKey: setup.publicKey,
    verifier: ports.createVerifier(setup.publicKey),
    folder: setup.folder,
    scripts: setup.scripts,
    version: setup.version,
    log: { warn: (event, fields) => handlers.say(`${event}: ${JSON.stringify(fields)}`) },
    onAcknowledged: recordLatencies(ledger, handlers),
  };
  try {
    const isLight = scenario.fleet.kind === 'tracker';
    const fleet = createFleet(
      options,
      isLight ? createTrackerStarter(options) : await createAgentStarter(options),
    );
    const beginMs = time.nowMs() - ports.clock.monoMs();
    const endStalls = watchStalls(ports.clock, (fromMs, toMs) =>
      ledger.stall(fromMs + beginMs, toMs + beginMs),
    );
    return createWorkerOf(setup, given, { ledger, fleet, network, endStalls });
  } catch (thrown) {
    await network.close();
    throw thrown instanceof AppError ? thrown : new AppError('internal', messageOf(thrown));
  }
}

/** Bounds the memory of a run. @throws AppError `usage` when its ledgers hold too many events. */
export function assertBounded({ events }: LedgerCounts): void {
  if (events <= eventsMost) return;
  throw new AppError('usage', `The run has made more than ${eventsMost} events`, {
    hint: 'Use fewer devices, a shorter duration or rarer reports.',
  });
}
