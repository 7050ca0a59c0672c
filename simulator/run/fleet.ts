// Brings the vehicles of a run on the road at their intended times, however long the ones before took to start, and takes them off
// again in good order. It knows nothing of what a vehicle is inside.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Log, Verifier } from '../../src/ports.ts';
import { startMsOf } from '../core/deeds.ts';
import type { Ledger } from '../core/ledger.ts';
import type { EventNote } from '../core/ledger-types.ts';
import type { ScriptedEvent } from '../core/recording.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import type { SeededEntropy } from '../random.ts';
import type { FleetVehicle, RunTime } from './fleet-vehicle.ts';
import type { Network } from './network.ts';
import type { RunPorts } from './ports.ts';
import { forAll, type Provisioned } from './provision.ts';

/** A device with its number in the whole fleet: shares of faults and phases count by it, whatever part drives it. */
export interface FleetDevice extends Provisioned {
  readonly index: number;
}

/** A vehicle as the run sees it. */
export interface FleetMember {
  readonly deviceID: string;
  isUp(): boolean;
  /** Drops the connection as a lost carrier does. */
  cutLink(reason: string): void;
  /** Null: a light tracker, without hardware. */
  readonly agent: FleetVehicle | null;
}

export interface Made {
  readonly member: FleetMember;
  /** From now on it is done so many times as much to it, or it sends so many times as much, as planned; not negative. */
  setRate(factor: number): void;
  /** Nothing further happens to it, or is made by it. */
  rest(): void;
  close(): Promise<void>;
}

/** Starts the vehicle of that device. */
export type Maker = (device: FleetDevice) => Promise<Made>;

export interface Fleet {
  /** The vehicle of that number; undefined: it has not started, or another part drives it. */
  vehicle(index: number): FleetMember | undefined;
  running(): readonly FleetMember[];
  /** Starts that failed, and the last reason. */
  failures(): { readonly count: number; readonly last: string };
  /** Of the vehicles from the first number to the last, those that start later too. */
  setRate(of: RateOrder): void;
  /** No further deeds, and no further vehicle comes on the road. */
  endDeeds(): void;
  /** Takes all off the road; what they store from now on may stay with them. */
  close(): Promise<void>;
}

/** How much is done to some of the vehicles, or sent by them. */
export interface RateOrder {
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
  /** PEM of the authority that the broker's certificate is of; null: the system's list. */
  readonly ca: string | null;
  readonly publicKey: string;
  readonly verifier: Verifier;
  /** Where vehicles keep their disks; null: in memory. */
  readonly folder: string | null;
  /** What light trackers send, by number; null: an event every so often. */
  readonly scripts: ReadonlyMap<number, readonly ScriptedEvent[]> | null;
  readonly version: string;
  readonly log: Pick<Log, 'warn'>;
  onAcknowledged(deviceID: string, notes: readonly EventNote[], nowMs: number): void;
}

/** The first vehicle of each phase, and how many come with it. */
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
 * Starts of agents are spread over the time in which they connect: to make one takes some milliseconds, and hundreds in one turn
 * would be late for everything. Light trackers cost nothing and choose their moment themselves. Ms after the start of its phase.
 */
function startGapMs(scenario: Scenario, index: number): number {
  if (scenario.fleet.kind === 'tracker') return 0;
  const { first, count } = waveOf(scenario, index);
  return ((index - first) * scenario.fleet.connectSpreadS * 1000) / count;
}

/** Taken off the road at once. */
const closingMost = 64;
/** Orders of different vehicles that are remembered for those that start later. */
const ratesMost = 100;

const isIn = ({ from, to }: RateOrder, index: number): boolean => index >= from && index <= to;

/** Every vehicle has its timer. */
export function createFleet(options: FleetOptions, make: Maker): Fleet {
  const { scenario, ports, time, devices } = options;
  const made = new Map<number, Made>();
  const rates: RateOrder[] = [];
  const timers: Cancel[] = [];
  const failed = { count: 0, last: '' };
  let isResting = false;
  let isClosing = false;
  const start = async (device: FleetDevice): Promise<void> => {
    try {
      const one = await make(device);
      made.set(device.index, one);
      const rate = rates.findLast((order) => isIn(order, device.index));
      if (rate !== undefined) one.setRate(rate.factor);
      if (isResting) one.rest();
      if (isClosing) await one.close();
    } catch (thrown) {
      failed.count += 1;
      failed.last = messageOf(thrown);
      options.log.warn('a vehicle did not start', { reason: failed.last });
    }
  };
  for (const device of devices) {
    const startMs = startMsOf(scenario, device.index);
    if (startMs === null) continue;
    const delayMs = Math.max(0, startMs + startGapMs(scenario, device.index) - time.nowMs());
    timers.push(ports.clock.after(delayMs, () => void start(device)));
  }
  return {
    vehicle: (index) => made.get(index)?.member,
    running: () => [...made.values()].map(({ member }) => member),
    failures: () => ({ ...failed }),
    setRate(order) {
      // Bounded: what lies within the new order is forgotten.
      const kept = rates.filter(({ from, to }) => from < order.from || to > order.to);
      rates.splice(0, rates.length, ...kept.slice(1 - ratesMost), order);
      for (const [index, one] of made) if (isIn(order, index)) one.setRate(order.factor);
    },
    endDeeds() {
      for (const cancel of timers.splice(0)) cancel();
      isResting = true;
      for (const one of made.values()) one.rest();
    },
    async close() {
      isClosing = true;
      for (const cancel of timers.splice(0)) cancel();
      await forAll([...made.values()], (one) => one.close(), closingMost);
    },
  };
}
