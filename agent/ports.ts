// What the agent needs of the world. `main.ts` joins the real things, tests and the simulator theirs.
import type { Clock, Entropy, Log, OpenByteLink, OpenMqttLink, Supervisor, Verifier } from '../src/ports.ts';
import type { ConfigStore } from './config-store.ts';
import type { ServiceCodes } from './core/protection/service-code.ts';
import type { HostReading } from './core/status/diagnostic.ts';
import type { Outbox } from './outbox.ts';
import type { Updater } from './update/performer.ts';

/** What the operating system tells of the machine and of this process. */
export interface HostFacts {
  /** Must not throw for a fact that is not there: that one is null. */
  read(): Promise<HostReading>;
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
  /** Where the modem is registered, as far as anybody tells; null when nobody does. Absent: nobody ever does. */
  network?(): Promise<'home' | 'roaming' | null>;
  /** For how long a serial port has been out of reach because calls into its driver hang, ms; 0 while none is. */
  driverStuckMs?(): number;
  /** Codes that restore the engine without a network. */
  readonly serviceCodes?: ServiceCodes;
  /** Absent: nobody tells of the machine. */
  readonly host?: HostFacts;
  /** The newest lines of this agent's log, as they were logged; absent: none are kept. */
  recentLog?(): string;
  /** Opens the durable queue for this boot, whose `upMs` count from `bootMonoMs`. */
  openOutbox(boot: string, bootMonoMs: number): Promise<Outbox>;
  /** The two slots of the configuration that the broker sends. */
  readonly configSlots: ConfigStore;
  /** Swaps releases of the agent. Absent: no launcher chooses one, or no key of releases is pinned. */
  readonly updater?: Updater;
}
