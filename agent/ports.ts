// The agent's ports. `main.ts` joins the real adapters, tests and the simulator theirs.
import type { OwnerSource } from '../src/core/persons/owner-document.ts';
import type { Clock, Entropy, Log, OpenByteLink, OpenMqttLink, Supervisor, Verifier } from '../src/ports.ts';
import type { SlotFiles, SlotName } from './core/config/config-record.ts';
import type { HostReading } from './core/kernel/vehicle-types.ts';
import type { ModemReading } from './core/modem/modem-reading.ts';
import type { ServiceCodes } from './core/protection/service-code.ts';
import type { UpdateResult, UpdateSetup, UpdateTask } from './core/update/update-types.ts';
import type { Outbox } from './outbox.ts';

/** Facts of the operating system about the machine and this process. */
export interface HostFacts {
  /** Must not throw for a fact that is not there: that one is null. */
  read(): Promise<HostReading>;
  /** For how long the machine has been on, ms. */
  upMs(): number;
}

/** The two slots of the configuration that the broker sends. */
export interface ConfigStore {
  /** Never rejects: an unreadable slot is damaged, with the reason as text. */
  read(): Promise<SlotFiles>;
  /** Resolves when the slot is durable. Rejects when it may not be; then it is as before, or new, never something else. */
  write(slot: SlotName, bytes: Uint8Array): Promise<void>;
}

/** Fetches, stages and tries releases of the agent. */
export interface Updater {
  readonly setup: UpdateSetup;
  /** Does one task after the other; never throws. */
  perform(task: UpdateTask, report: (result: UpdateResult) => void): void;
  /** Resolves when the agent is to end so that the launcher chooses again. */
  readonly restartWanted: Promise<void>;
  /** Ends running tasks. */
  close(): void;
}

export interface AgentPorts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly openByteLink: OpenByteLink;
  readonly openMqttLink: OpenMqttLink;
  /** Checks the broker's signature with the key that was pinned at enrolment. */
  readonly verifier: Verifier;
  readonly supervisor: Supervisor;
  /** Where the modem is registered; null when unknown. Absent: always unknown. */
  network?(): Promise<'home' | 'roaming' | null>;
  /** Modem and SIM; rejects with the reason while they cannot be read. Absent: nothing is asked. */
  readonly modem?: { readonly everyMs: number; read(): Promise<ModemReading> };
  /** Asks that the machine is suspended for this many seconds; rejects where nothing can be asked. Absent: it never is. */
  requestSleep?(seconds: number): Promise<void>;
  /** For how long a serial port has been out of reach because calls into its driver hang, ms; 0 while none is. */
  driverStuckMs?(): number;
  /** Codes that restore the engine without a network. */
  readonly serviceCodes?: ServiceCodes;
  /** Checks of the owner's document and persons; absent: a unit with an owner refuses what restricts it. */
  readonly owner?: OwnerSource;
  /** Absent: no facts about the machine. */
  readonly host?: HostFacts;
  /** The newest lines of this agent's log, as they were logged; absent: none are kept. */
  recentLog?(): string;
  /** Opens the durable queue for this boot, whose `upMs` count from `bootMonoMs`. */
  openOutbox(boot: string, bootMonoMs: number): Promise<Outbox>;
  readonly configSlots: ConfigStore;
  /** Swaps releases of the agent. Absent: no launcher chooses one, or no key of releases is pinned. */
  readonly updater?: Updater;
}
