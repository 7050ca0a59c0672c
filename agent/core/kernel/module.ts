// The state of a vehicle, one step in progress, and the contract of a module. A module has a slice of the state with its memory,
// and functions that the kernel calls at fixed moments. Modules import the kernel and not each other; the list is
// `vehicle/modules.ts`.

import type { TSchema } from 'typebox';
import type { AttributeValue, FleetEvent, InputName } from '../../../src/core/events/event.ts';
import type { ZoneConfig } from '../../../src/core/geo/zone-config.ts';
import type { Settings } from '../../../src/core/settings/settings.ts';
import type { CommandBody, Hello } from '../../../src/core/wire/wire.ts';
import type { AlarmsState } from '../alarms/alarms.ts';
import type { AnalogName, BoardProfile } from '../board/board-profile.ts';
import type { BoardReportState } from '../board/board-report.ts';
import type { BoardState } from '../board/board-types.ts';
import type { InputsState } from '../board/inputs.ts';
import type { LoopbackState } from '../board/loopback.ts';
import type { ConfigState } from '../config/config-types.ts';
import type { EvidenceState } from '../evidence/evidence-state.ts';
import type { Evidence } from '../evidence/testimony.ts';
import type { EpochState, Fix } from '../gnss/epochs.ts';
import type { NmeaState } from '../gnss/nmea.ts';
import type { PlausibilityState } from '../gnss/plausibility.ts';
import type { ReceiverFacts } from '../gnss/receiver-facts.ts';
import type { DeliveryState } from '../link/delivery.ts';
import type { StampedEvent } from '../outbox/stamped-event.ts';
import type { CommandsState } from '../protection/command-draft.ts';
import type { HoldUpWatch } from '../protection/hold-up.ts';
import type { RelaysState } from '../protection/relays.ts';
import type { WarningState } from '../protection/warning.ts';
import type { ReportingState } from '../reporting.ts';
import type { PortState } from '../serial-port-state.ts';
import type { TimeState } from '../timekeeping.ts';
import type {
  ModuleConfig,
  ModuleFacts,
  ModuleMemory,
  ModuleRows,
  ModuleStates,
  ModuleStatus,
} from './module-slots.ts';
import type { VehicleEffect, VehicleEvent } from './vehicle-events.ts';
import type {
  Now,
  PortName,
  ServiceState,
  UnitCounts,
  VehicleConfig,
  VehicleGuard,
  VehicleMemory,
} from './vehicle-types.ts';

export interface VehicleState extends ModuleStates {
  /** Effective settings: the installer's, overlaid with the signed configuration. */
  readonly settings: Settings;
  readonly config: ConfigState;
  /** How many geozones the configuration has that holds now. */
  readonly zoneCount: number;
  readonly time: TimeState;
  readonly ports: Readonly<Record<PortName, PortState>>;
  readonly board: BoardState;
  readonly inputs: InputsState<InputName>;
  /** Analog signals as last read; null = outside of its valid range, absent = never read or the board is lost. */
  readonly analogs: Readonly<Partial<Record<AnalogName, number | null>>>;
  /** When each was last read, monotonic. */
  readonly analogsReadMs: Readonly<Partial<Record<AnalogName, number>>>;
  readonly nmea: NmeaState;
  readonly epochs: EpochState;
  readonly plausibility: PlausibilityState;
  readonly receiver: ReceiverFacts;
  readonly evidence: EvidenceState;
  /** The last plausible fix. */
  readonly fix: Fix | null;
  readonly reporting: ReportingState;
  readonly alarms: AlarmsState;
  readonly commands: CommandsState;
  readonly relays: RelaysState;
  readonly warning: WarningState;
  /** At rest and without an answer for ever where the profile has none. */
  readonly loopback: LoopbackState;
  readonly service: ServiceState;
  /** Number of the next local command of this boot. */
  readonly nextLocal: number;
  /** Last read-back of the relays, and whether the next one is the first since the board came up. */
  readonly relaysReadMs: number | null;
  readonly isBoardFresh: boolean;
  readonly boardReport: BoardReportState;
  /** From the modem; unknown counts as the home network. */
  readonly isRoaming: boolean;
  readonly memory: VehicleMemory;
  readonly counts: UnitCounts;
  readonly delivery: DeliveryState;
  /** Positions that wait for their window. */
  readonly pending: readonly StampedEvent[];
  readonly pendingSinceMs: number;
  readonly heartbeatMs: number;
  readonly tickMs: number;
  /** Kept while a restrictive change waits; else null. */
  readonly holdUp: HoldUpWatch | null;
  readonly guard: VehicleGuard;
  /** Fixes since the start, plausible or not. */
  readonly fixes: number;
  /** No new work is started; stored events are still delivered. */
  readonly isStopping: boolean;
}

/** One step in progress: a state to be replaced piece by piece by `put`, and the effects so far. */
export interface StepContext {
  state: VehicleState;
  /** The copy that this step has made of the state: later pieces go into it. A step must not keep the whole state beyond a `put`. */
  copy?: VehicleState;
  readonly effects: VehicleEffect[];
  readonly now: Now;
  readonly config: VehicleConfig;
  readonly modules: readonly VehicleModule[];
  readonly receipts: number[];
  /** The evidence of the state as it is now, once it was asked for. */
  proven?: Evidence | undefined;
}

/** What a start gives to a module. */
export interface ModuleStart {
  readonly config: VehicleConfig;
  readonly memory: VehicleMemory;
  /** As they were stored; not checked. */
  readonly rows: Readonly<Record<string, unknown>>;
  /** Monotonic. */
  readonly nowMs: number;
}

export type Attributes = Readonly<Record<string, AttributeValue>>;

/** `note`: worth mentioning, no fault. */
export type Level = 'ok' | 'note' | 'fault';

/** One line of the status. */
export interface StatusLine {
  readonly level: Level;
  readonly name: string;
  readonly words: string;
  /** What to do about it; '' when nothing. */
  readonly todo: string;
}

/** What the lines of a module are made of. */
export interface ModuleShown extends ModuleStatus {
  readonly inputs: readonly { readonly input: InputName; readonly reading: string }[];
}

/** A table of agent.toml; the configuration of the vehicle holds it under the same name. */
export interface ModuleTable {
  readonly table: keyof ModuleConfig;
  readonly schema: TSchema;
  /** As vehicle and process take it; null: what it describes is not there. */
  configOf(table: unknown): unknown;
  /** In one line, for `config check` and the log. */
  describe?(config: unknown): string;
  /** Conflict with the board or the other tables; '' when there is none. */
  fault?(table: unknown, profile: BoardProfile, file: object): string;
  /** What `config check` says of it. */
  readonly notes?: readonly string[];
  readonly warnings?: readonly string[];
}

/** A module of the vehicle. It reports and never decides about a relay; all that it may add is here. */
export interface VehicleModule {
  readonly tables?: readonly ModuleTable[];
  /** Its slices of the state at a start. */
  create?(start: ModuleStart): Partial<ModuleStates>;
  /** Memory that survives a restart; read at each commit. */
  remember?(state: VehicleState): Partial<ModuleMemory>;
  /** Its rows; each is written with the next commit once it is another object. */
  rows?(state: VehicleState): Partial<ModuleRows>;
  /** Its own kinds of event, and those of the kernel after the kernel has handled them. */
  readonly on?: {
    readonly [Kind in VehicleEvent['kind']]?: (
      context: StepContext,
      event: Extract<VehicleEvent, { readonly kind: Kind }>,
    ) => void;
  };
  /** A configuration holds from now on; its settings are in the state. */
  configured?(context: StepContext, zones: readonly ZoneConfig[]): void;
  /** A plausible fix, before its position is reported. It is in the state. */
  fix?(context: StepContext, fix: Fix): void;
  /** In every step, once all that was read is in the state. */
  settled?(context: StepContext): void;
  /** Twice a second. */
  tick?(context: StepContext): void;
  /** Analog signals of the board were read; they are in the state. */
  analogs?(context: StepContext, values: VehicleState['analogs']): void;
  /** Attributes of a position or heartbeat that is being recorded; null: none. */
  attributes?(context: StepContext, of: 'position' | 'heartbeat'): Attributes | null;
  /** Members of every event with a position. */
  place?(state: VehicleState): Pick<FleetEvent, 'geozoneID'>;
  /** Attributes of every other event; null: none. */
  eventAttributes?(state: VehicleState): Attributes | null;
  /** Veto of a relay change now; null: none. A module can only object: it never proves rest. */
  veto?(state: VehicleState, atMs: number): NonNullable<Evidence['bus']> | null;
  /**
   * Why an order away from the safe state is refused; null: nothing speaks against it. A module can only object.
   * @param body null: a cause on the vehicle itself orders it. @param latestUtcMs null: unknown.
   */
  objection?(state: VehicleState, body: CommandBody | null, latestUtcMs: number | null): string | null;
  /** Its members of each hello. */
  hello?(state: VehicleState): Pick<Hello, 'owner'>;
  /** Why the machine must not be suspended now; null: it may be. */
  wakefulness?(state: VehicleState): string | null;
  /** Its members of the status document. @param nowMs monotonic. */
  status?(state: VehicleState, nowMs: number): Partial<ModuleStatus>;
  facts?(state: VehicleState): Partial<ModuleFacts>;
  /** Its lines of the status: below the evidence, and at the end. */
  lines?(shown: ModuleShown): readonly StatusLine[];
  lastLines?(facts: ModuleFacts): readonly StatusLine[];
}
