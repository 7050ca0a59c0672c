// Types shared by the parts of the vehicle: its configuration, its memory, and what they keep and exchange. Types
// only.

import type { FeatureName, InputName } from '../../../src/core/events/event.ts';
import type { Settings } from '../../../src/core/settings/settings.ts';
import type { GuardSetup, GuardState } from '../../guard/facts.ts';
import type { Refusal } from '../../guard/guard.ts';
import type { OrderSetup } from '../../guard/order.ts';
import type { AlarmMemory } from '../alarms/alarm-memory.ts';
import type { BoardProfile } from '../board/board-profile.ts';
import type { ConfigInput } from '../config/config-types.ts';
import type { EvidenceRecord } from '../evidence/evidence-record.ts';
import type { Traffic } from '../link/data-budget.ts';
import type { Protection } from '../protection/protection.ts';
import type { ServiceCodes } from '../protection/service-code.ts';
import type { EntryState } from '../protection/service-entry.ts';
import type { ModuleConfig, ModuleMemory } from './module-slots.ts';

export interface VehicleConfig extends ModuleConfig {
  readonly accountID: string;
  readonly deviceID: string;
  /** Names the hardware of this unit, on which its sensors have proven themselves; '' where it has no name. */
  readonly hardwareID: string;
  readonly agentVersion: string;
  /** No real clock shows an earlier time than this. */
  readonly earliestUtcMs: number;
  readonly boot: string;
  /** Verifies orders with the pinned key of the broker, for the relay guard. */
  readonly verifier: OrderSetup['verifier'];
  readonly profile: BoardProfile;
  readonly broker: { readonly keepaliveS: number };
  readonly gnssSilenceMs: number;
  /** The installer's; what holds now is `VehicleState.settings`. */
  readonly settings: Settings;
  /** The installer's alone: no message from outside changes it. */
  readonly protection: Protection;
  /** Codes that restore the engine without a network; absent where there is no secret to make them from. */
  readonly serviceCodes?: ServiceCodes;
  /** Positions wait at most this long in memory before they are committed. */
  readonly windowMs: number;
}

/** Survives restarts, beside the command record. */
export interface VehicleMemory extends ModuleMemory {
  readonly odometerM: number;
  /** Inputs as last reported, so that a restart does not report them again. */
  readonly inputs: Readonly<Partial<Record<InputName, boolean>>>;
  /** What the mobile link carried this month. */
  readonly traffic: Traffic;
  readonly alarms?: AlarmMemory;
  /** The loss of the board was reported, and its return was not. */
  readonly isBoardLost?: boolean;
  readonly evidence?: EvidenceRecord;
  /** The newest time that was ever confirmed, UTC ms: an earlier clock is rejected after a restart. */
  readonly newestUtcMs?: number | null;
}

/** A refusal of the guard, as status and doctor show it. */
export interface GuardRefusal {
  readonly feature: FeatureName | null;
  readonly refusals: readonly Refusal[];
  /** Monotonic, ms. */
  readonly atMs: number;
}

export interface VehicleGuard {
  readonly setup: GuardSetup;
  readonly facts: GuardState;
  /** The last refusal that was an alarm; null: none since the start. */
  readonly refused: GuardRefusal | null;
}

export type PortName = 'board' | 'gnss';

export interface Now {
  readonly monoMs: number;
  readonly utcMs: number;
  /** A random number in [0, 1), new for each step. */
  readonly fraction: number;
}

/** Facts of the operating system about the machine and this process; null = not available. */
export interface HostReading {
  /** Resident memory of the agent, MiB. */
  readonly rssMb: number | null;
  /** Longest delay of the event loop since the last reading, ms. */
  readonly loopLagMs: number | null;
  /** Free space for the agent's files, MiB. */
  readonly diskFreeMb: number | null;
  /** Hottest sensor of the processor, degrees Celsius. */
  readonly cpuC: number | null;
  /** Load average of one minute. */
  readonly load: number | null;
  /** Seconds since the machine started. */
  readonly hostUpS: number | null;
}

/** Since the start of the agent. */
export interface UnitCounts {
  readonly boardLosses: number;
  readonly gnssLosses: number;
  readonly nmeaRejected: number;
  readonly connects: number;
}

/** State of code entry; what must survive is in the command record. */
export interface ServiceState {
  readonly entry: EntryState;
  /** The lock ends then (monotonic); null while there is none. A restart restarts the hour. */
  readonly lockedUntilMs: number | null;
  /** Result of the last try. */
  readonly last: { readonly isRight: boolean; readonly words: string } | null;
}

/** A configuration from the session: signed for this vehicle and boot, assembled, unpacked or not. */
export type ReceivedConfig = Extract<ConfigInput, { kind: 'received' | 'refused' }>;
