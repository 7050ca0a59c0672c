// The answer of the local socket: state of the agent, and of its process. Types only.

import type { describeUpdate } from '../kernel/vehicle-update.ts';
import type { KeptMessage } from '../link/inbox.ts';
import type { VehicleStatus } from './status.ts';

export interface AgentStatus {
  readonly boot: string;
  readonly version: string;
  readonly upS: number;
  readonly connection: 'waiting' | 'connecting' | 'up';
  readonly acknowledged: number;
  readonly backlog: number;
  readonly fixes: number;
  readonly board: string;
  readonly gnss: string;
  readonly commits: { readonly waiting: number; readonly failing: string | null };
  /** Since the start: commits that the disk took, and sessions with the broker. */
  readonly committed: number;
  readonly connects: number;
  /** Since the broker's last acknowledgement; null when none arrived since the start. */
  readonly ackedAgoS: number | null;
  /** Events per class, most urgent first; `dropped` ever. */
  readonly queue: {
    readonly queued: readonly number[];
    readonly dropped: readonly number[];
    readonly isExact: boolean;
  };
  readonly storage: { readonly bytes: number };
  /** What the service manager's watchdog is fed by. */
  readonly idleMs: number;
  readonly hangingMs: number;
  /** Messages of operators to the vehicle, newest last. */
  readonly messages: readonly KeptMessage[];
  /** The current update of the agent and its reason to wait; null: none. */
  readonly update: ReturnType<typeof describeUpdate>;
  readonly vehicle: VehicleStatus;
}

/** What only the process knows. */
export interface ProcessFacts {
  readonly rssBytes: number;
  /** Longest delay of a timer in the last ten seconds. */
  readonly lagMs: number;
  readonly storageMostBytes: number;
  /** Null where it is unknown. */
  readonly diskFreeBytes: number | null;
}

export interface AgentFacts extends AgentStatus {
  readonly process: ProcessFacts;
}
