// One part of a fleet: some of its vehicles with their network, faults and ledger, in one process. Whoever leads the run gives it
// orders, hears what it measures, and takes its notes at the end; where that is, in this process or another, it does not know.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { createLedger, eventsMost } from '../core/ledger.ts';
import type { LedgerCounts, LedgerNotes } from '../core/ledger-types.ts';
import { countOpenFacts } from '../core/open-facts.ts';
import type { ScriptedEvent } from '../core/recording.ts';
import type { Fault, Scenario } from '../core/scenario-schema.ts';
import type { LatencyName } from '../core/thresholds.ts';
import { createSeededEntropy } from '../random.ts';
import { scheduleFaults } from './faults.ts';
import { createFleet, type Fleet, type FleetDevice, type FleetOptions, type RateOrder } from './fleet.ts';
import { createAgentMaker } from './fleet-agents.ts';
import { createTrackerMaker } from './fleet-trackers.ts';
import type { RunTime } from './fleet-vehicle.ts';
import { watchStalls } from './latency.ts';
import { createNetwork, type Network } from './network.ts';
import type { RunPorts } from './ports.ts';
import { begin, excuse, type VehicleFaultOptions } from './vehicle-faults.ts';

/** Where a part sends its vehicles, and which they are. Plain data. */
export interface PartSetup {
  readonly no: number;
  readonly scenario: Scenario;
  readonly devices: readonly FleetDevice[];
  readonly accountID: string;
  readonly publicKey: string;
  readonly mqttUrl: string;
  /** PEM; null: the system's list of authorities. */
  readonly ca: string | null;
  /** Shares of the fleet whose links may be struck besides those of the scenario's faults. */
  readonly linkShares: readonly number[];
  /** Where vehicles keep their disks; null: in memory. */
  readonly folder: string | null;
  /** What light trackers send, by number; null: an event every so often. */
  readonly scripts: ReadonlyMap<number, readonly ScriptedEvent[]> | null;
  readonly version: string;
}

/** What goes on in a part, now. Plain data. */
export interface PartLook {
  readonly online: number;
  readonly running: number;
  /** Events that must be delivered and are not acknowledged. */
  readonly waiting: number;
  /** After the end of the deeds: facts until then that an event may still come of. */
  readonly openFacts: number;
  readonly breaches: number;
  readonly counts: LedgerCounts;
  readonly failures: { readonly count: number; readonly last: string };
}

/** An event that people saw, and when. */
export interface Sighting {
  readonly deviceID: string;
  readonly eventID: string;
  readonly atMs: number;
}

export type PartOrder =
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'rate'; readonly rate: RateOrder }
  /** No further deeds; what is stored from then on may stay with the vehicles. */
  | { readonly kind: 'endDeeds' }
  | { readonly kind: 'seen'; readonly sightings: readonly Sighting[] };

export type MeasuredName = Extract<LatencyName, 'ingest' | 'visible'>;

export interface PartHandlers {
  onLatency(name: MeasuredName, ms: number): void;
  say(text: string): void;
}

export interface Part {
  look(): PartLook;
  order(order: PartOrder): void;
  /** Takes all vehicles off the road and gives what was noted. */
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

/** Nothing. */
export const noLook: PartLook = {
  online: 0,
  running: 0,
  waiting: 0,
  openFacts: 0,
  breaches: 0,
  counts: emptyCounts,
  failures: { count: 0, last: '' },
};

/** Latency of what was just acknowledged, from when the vehicle had it and could have sent it. */
function noteLatencies(
  ledger: FleetOptions['ledger'],
  handlers: PartHandlers,
): FleetOptions['onAcknowledged'] {
  return (deviceID, notes, nowMs) => {
    const vehicle = ledger.vehicles.get(deviceID);
    const firstUpMs = vehicle?.ups[0] ?? nowMs;
    for (const { storedMs } of notes) {
      const fromMs = Math.max(storedMs, firstUpMs);
      // What a fault of the link held up on purpose says nothing about the system.
      const isHeldUp = vehicle?.excuses.some(
        ({ kind, fromMs: from, toMs }) => kind === 'link' && from <= nowMs && toMs >= fromMs,
      );
      if (isHeldUp !== true) handlers.onLatency('ingest', nowMs - fromMs);
    }
  };
}

interface Gear {
  readonly ledger: FleetOptions['ledger'];
  readonly fleet: Fleet;
  readonly network: Network;
  endStalls(): void;
}

function createPartOf(
  setup: PartSetup,
  given: { readonly ports: RunPorts; readonly time: RunTime; readonly handlers: PartHandlers },
  gear: Gear,
): Part {
  const { ledger, fleet, network } = gear;
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
  // What recorded events tell of happened elsewhere: there are no facts to hold them against.
  for (const { deviceID } of setup.scripts === null ? [] : setup.devices)
    ledger.excuse(deviceID, { kind: 'hardware', fromMs: 0, toMs: Number.MAX_SAFE_INTEGER });
  const faults = scheduleFaults(
    { clock: ports.clock, time, begin: (fault) => begin(faultOptions, fault) },
    mine,
  );
  let endMs: number | null = null;
  const endDeeds = (): void => {
    faults.close();
    fleet.endDeeds();
    endMs = time.nowMs();
    for (const deviceID of ledger.vehicles.keys()) ledger.stopping(deviceID, endMs);
  };
  return {
    look: () => ({
      online: fleet.running().reduce((sum, vehicle) => sum + (vehicle.isUp() ? 1 : 0), 0),
      running: fleet.running().length,
      waiting: ledger.waiting(),
      openFacts:
        endMs === null ? 0 : countOpenFacts(ledger.vehicles.values(), { nowMs: time.nowMs(), endMs }),
      breaches: ledger.breaches.length,
      counts: ledger.counts(),
      failures: fleet.failures(),
    }),
    order(order) {
      switch (order.kind) {
        case 'fault':
          excuse(faultOptions, order.fault);
          return endMs === null ? faults.add(order.fault) : undefined;
        case 'rate':
          return endMs === null ? fleet.setRate(order.rate) : undefined;
        case 'endDeeds':
          return endDeeds();
        case 'seen':
          for (const { deviceID, eventID, atMs } of order.sightings) {
            const storedMs = ledger.storedMsOf(deviceID, eventID);
            // As with what is acknowledged: from when it could be sent.
            const firstUpMs = ledger.vehicles.get(deviceID)?.ups[0] ?? 0;
            if (storedMs !== null) handlers.onLatency('visible', atMs - Math.max(storedMs, firstUpMs));
          }
      }
    },
    async close() {
      faults.close();
      await fleet.close();
      gear.endStalls();
      await network.close();
      return ledger.notes();
    },
  };
}

/**
 * Starts a part: vehicles come on the road at their times of `time`.
 * @throws AppError as `createNetwork` does, `config` when the settings of the vehicles or a track are wrong.
 */
export async function createPart(
  setup: PartSetup,
  given: { readonly ports: RunPorts; readonly time: RunTime; readonly handlers: PartHandlers },
): Promise<Part> {
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
    onAcknowledged: noteLatencies(ledger, handlers),
  };
  try {
    const isLight = scenario.fleet.kind === 'tracker';
    const fleet = createFleet(
      options,
      isLight ? createTrackerMaker(options) : await createAgentMaker(options),
    );
    const beginMs = time.nowMs() - ports.clock.monoMs();
    const endStalls = watchStalls(ports.clock, (fromMs, toMs) =>
      ledger.stall(fromMs + beginMs, toMs + beginMs),
    );
    return createPartOf(setup, given, { ledger, fleet, network, endStalls });
  } catch (thrown) {
    await network.close();
    throw thrown instanceof AppError ? thrown : new AppError('internal', messageOf(thrown));
  }
}

/** @throws AppError `usage` when the ledgers of a run have grown too large. */
export function assertBounded({ events }: LedgerCounts): void {
  if (events <= eventsMost) return;
  throw new AppError('usage', `The run has made more than ${eventsMost} events`, {
    hint: 'Take fewer devices, a shorter time or rarer reports.',
  });
}
