// What a module of the vehicle needs of the process: what it reads beside board and receiver, the effects that are its own, and its checks for
// the doctor. Its code is loaded only where it is configured.
import type { Settings } from '../src/core/settings/settings.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { ModuleConfig, ModuleEffects, ModuleEvents, ModuleStatus } from './core/kernel/module-slots.ts';
import type { VehicleEvent } from './core/kernel/vehicle-events.ts';
import type { Check, Finding } from './doctor/check.ts';
import type { DoctorPorts } from './doctor/ports.ts';
import type { Outbox } from './outbox.ts';
import type { AgentPorts } from './ports.ts';

export type Dispatch = (event: VehicleEvent) => void;

export interface Reader {
  close(): Promise<void>;
}

/** What a check of the doctor is given. */
export interface CheckContext {
  readonly ports: DoctorPorts;
  /** As the installer gave them. */
  readonly settings: Settings;
  say(text: string): void;
  isStopped(): boolean;
}

/** A signed message on the topic of the commands; it becomes an event of this kind with the body that was decoded. */
export interface Downlink {
  readonly kind: keyof ModuleEvents;
  /** Of its signature. */
  readonly type: string;
  /** Null: its content is not valid. */
  decode(payload: Uint8Array): object | null;
}

/** What an effect is performed with. */
export interface EffectContext {
  readonly ports: AgentPorts;
  readonly outbox: Outbox;
  readonly commits: CommitQueue;
  readonly dispatch: Dispatch;
}

export interface AgentModule {
  /** The table of agent.toml that names its serial port; without it nothing is loaded. */
  readonly table?: keyof ModuleConfig;
  /** Its place in the doctor: the title of the port, and the name of `doctor NAME` for its check alone. */
  readonly portTitle?: string;
  readonly part?: string;
  /** What the vehicle is configured with that only the process knows. */
  setup?(ports: AgentPorts): ModuleConfig;
  /** Why the doctor switches no relay on that restricts the vehicle; null: nothing speaks against it. */
  refusesRelayTest?(config: ModuleConfig): string | null;
  readonly downlinks?: readonly Downlink[];
  /** Loads its code, and gives the function that starts to read. Nothing is open before that function runs. */
  load?(config: unknown, ports: AgentPorts): Promise<(dispatch: Dispatch) => Reader>;
  /** Its check for the doctor. */
  check?(config: unknown, context: CheckContext): Promise<Check>;
  /** What that check would find of a running agent; null: nothing was read yet. */
  findings?(shown: ModuleStatus): Promise<readonly Finding[]> | null;
  /** Performs its own kinds of effect. */
  readonly perform?: {
    readonly [Kind in keyof ModuleEffects]?: (effect: ModuleEffects[Kind], context: EffectContext) => void;
  };
}
