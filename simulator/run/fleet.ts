// Brings the vehicles of a run on the road at their intended times, however long the ones before took to start, and takes them off
// again in good order. It knows nothing of what a vehicle is inside.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Log, Verifier } from '../../src/ports.ts';
import { startMsOf } from '../core/deeds.ts';
import type { Ledger } from '../core/ledger.ts';
import type { EventNote } from '../core/ledger-types.ts';
import type { Scenario } from '../core/scenario-schema.ts';
import type { SeededEntropy } from '../random.ts';
import type { FleetVehicle, RunTime } from './fleet-vehicle.ts';
import type { Network } from './network.ts';
import type { RunPorts } from './ports.ts';
import { forAll, type Provisioned } from './provision.ts';

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
  /** Nothing further happens to it, or is made by it. */
  rest(): void;
  close(): Promise<void>;
}

/** Starts the vehicle of that number; null: there is none. */
export type Maker = (index: number) => Promise<Made | null>;

export interface Fleet {
  /** Those that run, by number; those that have not started yet are holes. */
  readonly vehicles: readonly (FleetMember | undefined)[];
  running(): readonly FleetMember[];
  /** Starts that failed, and the last reason. */
  failures(): { readonly count: number; readonly last: string };
  /** No further deeds. */
  endDeeds(): void;
  /** Takes all off the road; what they store from now on may stay with them. */
  close(): Promise<void>;
}

export interface FleetOptions {
  readonly scenario: Scenario;
  readonly ports: RunPorts;
  readonly time: RunTime;
  readonly entropy: SeededEntropy;
  readonly ledger: Ledger;
  readonly network: Network;
  readonly devices: readonly Provisioned[];
  readonly accountID: string;
  readonly publicKey: string;
  readonly verifier: Verifier;
  readonly version: string;
  readonly log: Pick<Log, 'warn'>;
  onAcknowledged(deviceID: string, notes: readonly EventNote[], nowMs: number): void;
}

/** Starts are spread a little, so that they do not all read the disk in one turn. */
const startGapMs = 2;

/** Every vehicle has its timer. */
export function createFleet(options: FleetOptions, make: Maker): Fleet {
  const { scenario, ports, time, devices } = options;
  const made: (Made | undefined)[] = devices.map(() => undefined);
  const timers: Cancel[] = [];
  const failed = { count: 0, last: '' };
  let isClosing = false;
  const start = async (index: number): Promise<void> => {
    try {
      const one = await make(index);
      if (one === null) return;
      made[index] = one;
      if (isClosing) await one.close();
    } catch (thrown) {
      failed.count += 1;
      failed.last = messageOf(thrown);
      options.log.warn('a vehicle did not start', { reason: failed.last });
    }
  };
  for (const index of devices.keys()) {
    const startMs = startMsOf(scenario, index);
    if (startMs === null) continue;
    const delayMs = Math.max(0, startMs + index * startGapMs - time.nowMs());
    timers.push(ports.clock.after(delayMs, () => void start(index)));
  }
  const there = (): readonly Made[] => made.flatMap((one) => (one === undefined ? [] : [one]));
  return {
    get vehicles() {
      return made.map((one) => one?.member);
    },
    running: () => there().map(({ member }) => member),
    failures: () => ({ ...failed }),
    endDeeds() {
      for (const one of there()) one.rest();
    },
    async close() {
      isClosing = true;
      for (const cancel of timers) cancel();
      await forAll(there(), (one) => one.close());
    },
  };
}
