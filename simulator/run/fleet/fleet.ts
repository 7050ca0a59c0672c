// Starts the vehicles of a run at their intended times, however long earlier starts take, and closes them at the end. It does not
// depend on the kind of vehicle.
import { messageOf } from '../../../src/core/errors.ts';
import type { Cancel, Log, Verifier } from '../../../src/ports.ts';
import type { Ledger } from '../../core/ledger/ledger.ts';
import type { EventNote } from '../../core/ledger/ledger-types.ts';
import type { SeededEntropy } from '../../core/random.ts';
import type { Scenario } from '../../core/scenario/scenario-schema.ts';
import { startMsOf } from '../../core/scenario/scripted-actions.ts';
import type { ScriptedEvent } from '../../core/traffic/recording.ts';
import type { Network } from '../link/network.ts';
import { type Provisioned } from '../service/provision.ts';
import { forAll } from '../shared/for-all.ts';
import type { RunPorts } from '../shared/run-ports.ts';
import { type RunTime } from '../shared/run-ports.ts';
import type { AgentVehicle } from './agent-vehicle.ts';

/** A device with its number in the whole fleet, by which the shares of faults and phases count, whichever worker runs it. */
export interface FleetDevice extends Provisioned {
  readonly index: number;
}

/** A vehicle of either kind. */
export interface FleetMember {
  readonly deviceID: string;
  isUp(): boolean;
  /** Drops the connection as a lost carrier does. */
  cutLink(reason: string): void;
  /** Null: a light tracker, without hardware. */
  readonly agent: AgentVehicle | null;
}

export interface StartedVehicle {
  readonly member: FleetMember;
  /** From now on its actions or events are `factor` times as frequent as planned; 0 stops them. */
  setRate(factor: number): void;
  /** Begins no further action and makes no further event. */
  stopActivity(): void;
  close(): Promise<void>;
}

export type VehicleStarter = (device: FleetDevice) => Promise<StartedVehicle>;

export interface Fleet {
  /** The vehicle of that number; undefined: it has not started, or belongs to another worker. */
  vehicle(index: number): FleetMember | undefined;
  running(): readonly FleetMember[];
  /** Starts that failed, and the last reason. */
  failures(): { readonly count: number; readonly last: string };
  /** Applies to vehicles that start later too. */
  setRate(change: RateChange): void;
  /** Stops the activity of all vehicles and starts no further one. */
  stopActivity(): void;
  /** Closes all vehicles; events that they store from now on need not be delivered. */
  close(): Promise<void>;
}

/** Another rate of actions or events for a range of vehicles. */
export interface RateChange {
  /** Times as much as planned, 0 to 100. */
  readonly factor: number;
  /** Numbers in the fleet, from 0, both included. */
  readonly from: number;
  readonly to: number;
}

export interface FleetOptions {
  readonly scenario: Scenario;
  readonly ports: RunPorts;
  readonly time: RunTime;
  readonly entropy: SeededEntropy;
  readonly ledger: Ledger;
  readonly network: Network;
  readonly devices: readonly FleetDevice[];
  readonly accountID: string;
  /** PEM of the authority to trust; null: those of the system. */
  readonly ca: string | null;
  readonly publicKey: string;
  readonly verifier: Verifier;
  /** Folder of the vehicles' disks; null: in memory. */
  readonly folder: string | null;
  /** Events of light trackers, by number; null: periodic events. */
  readonly scripts: ReadonlyMap<number, readonly ScriptedEvent[]> | null;
  readonly version: string;
  readonly log: Pick<Log, 'warn'>;
  onAcknowledged(deviceID: string, notes: readonly EventNote[], nowMs: number): void;
}

/** The first vehicle of the phase in which this one starts, and how many start in it. */
function waveOf(
  { fleet, phases }: Scenario,
  index: number,
): { readonly first: number; readonly count: number } {
  const upTo = phases.map(({ share }) => Math.round(share * fleet.devices));
  const at = upTo.findIndex((count) => index < count);
  const first = upTo[at - 1] ?? 0;
  return { first, count: Math.max(1, (upTo[at] ?? fleet.devices) - first) };
}

/**
 * Delay after the start of the phase, ms. Starts of agents are spread over the time in which they connect, since each takes some
 * milliseconds of the event loop. Light trackers start at once and delay only their connection.
 */
export function startGapMs(scenario: Scenario, index: number): number {
  if (scenario.fleet.kind === 'tracker') return 0;
  const { first, count } = waveOf(scenario, index);
  return ((index - first) * scenario.fleet.connectSpreadS * 1000) / count;
}

/** Vehicles that are closed at the same time. */
const closingMost = 64;
/** Changes that are kept for vehicles that start later. */
const ratesMost = 100;

const isIn = ({ from, to }: RateChange, index: number): boolean => index >= from && index <= to;

export function createFleet(options: FleetOptions, startVehicle: VehicleStarter): Fleet {
  const { scenario, ports, time, devices } = options;
  const started = new Map<number, StartedVehicle>();
  const rates: RateChange[] = [];
  const timers: Cancel[] = [];
  const failed = { count: 0, last: '' };
  let isStopping = false;
  let isClosing = false;
  const start = async (device: FleetDevice): Promise<void> => {
    try {
      const one = await startVehicle(device);
      started.set(device.index, one);
      const rate = rates.findLast((change) => isIn(change, device.index));
      if (rate !== undefined) one.setRate(rate.factor);
      if (isStopping) one.stopActivity();
      if (isClosing) await one.close();
    } catch (thrown) {
      failed.count += 1;
      failed.last = messageOf(thrown);
      options.log.warn('vehicle_start_failed', { reason: failed.last });
    }
  };
  for (const device of devices) {
    const startMs = startMsOf(scenario, device.index);
    if (startMs === null) continue;
    const delayMs = Math.max(0, startMs + startGapMs(scenario, device.index) - time.nowMs());
    timers.push(ports.clock.after(delayMs, () => void start(device)));
  }
  return {
    vehicle: (index) => started.get(index)?.member,
    running: () => [...started.values()].map(({ member }) => member),
    failures: () => ({ ...failed }),
    setRate(change) {
      // Changes within the range of the new one are dropped: the list is bounded.
      const kept = rates.filter(({ from, to }) => from < change.from || to > change.to);
      rates.splice(0, rates.length, ...kept.slice(1 - ratesMost), change);
      for (const [index, one] of started) if (isIn(change, index)) one.setRate(change.factor);
    },
    stopActivity() {
      for (const cancel of timers.splice(0)) cancel();
      isStopping = true;
      for (const one of started.values()) one.stopActivity();
    },
    async close() {
      isClosing = true;
      for (const cancel of timers.splice(0)) cancel();
      await forAll([...started.values()], (one) => one.close(), closingMost);
    },
  };
}
