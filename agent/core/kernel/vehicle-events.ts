// Events of a vehicle, and its effects. Types only.

import type { FleetEvent } from '../../../src/core/events/event.ts';
import type { Ack, CommandBody, Welcome } from '../../../src/core/wire/wire.ts';
import type { Permit } from '../../guard/guard.ts';
import type { SlotName } from '../config/config-record.ts';
import { type DeliveryEffect, type DeliveryInput } from '../link/delivery.ts';
import { type StampedEvent } from '../outbox/stamped-event.ts';
import type { CommandRecord } from '../protection/command-record.ts';
import type { ModuleEffects, ModuleEvents, ModuleRows } from './module-slots.ts';
import { type PortName, type ReceivedConfig, type VehicleMemory } from './vehicle-types.ts';

/** Members of a union by their kind. */
type ByKind<Kinds> = { [Kind in keyof Kinds]: { readonly kind: Kind } & Kinds[Kind] }[keyof Kinds];

export type VehicleEvent =
  | ByKind<ModuleEvents>
  | { readonly kind: 'start' }
  | { readonly kind: 'time' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'opened'; readonly port: PortName }
  | { readonly kind: 'failed' | 'down'; readonly port: PortName; readonly reason: string }
  | { readonly kind: 'bytes'; readonly port: PortName; readonly bytes: Uint8Array }
  /** `durable` false: the disk refuses it; it is kept and tried again. */
  | {
      readonly kind: 'committed';
      readonly token: string;
      readonly durable: boolean;
      /** Numbers of the commit's events in this boot, in their order. */
      readonly seqs?: readonly number[];
    }
  | { readonly kind: 'delivery'; readonly input: DeliveryInput }
  | { readonly kind: 'network'; readonly isRoaming: boolean }
  | { readonly kind: 'welcome'; readonly welcome: Welcome }
  | { readonly kind: 'ack'; readonly ack: Ack }
  /** A verified command, and the token that it was in; `receipt` is acknowledged once it is persisted or known to be void. */
  | { readonly kind: 'command'; readonly body: CommandBody; readonly receipt: number; readonly token: string }
  | { readonly kind: 'config'; readonly received: ReceivedConfig }
  /** `fault` null: it is durable. */
  | { readonly kind: 'slotWritten'; readonly slot: SlotName; readonly fault: string | null }
  /** A one-time code that was entered at the unit's local socket. */
  | { readonly kind: 'serviceCode'; readonly code: string };

export interface Commit {
  readonly kind: 'commit';
  readonly events: readonly StampedEvent[];
  /** Monotonic time until which the events may wait to be sent with others, ms. */
  readonly sendByMs: number;
  readonly record: CommandRecord | null;
  readonly memory: VehicleMemory;
  /** Of the modules, all of them; written down are those that became other objects. */
  readonly rows: Partial<ModuleRows>;
  readonly token: string | null;
  readonly receipts: readonly number[];
}

export type VehicleEffect =
  | { readonly kind: 'openPort' | 'closePort'; readonly port: PortName }
  /** Nothing goes to the board without the permit of the relay guard. */
  | {
      readonly kind: 'writePort';
      readonly port: 'board';
      readonly bytes: Uint8Array;
      readonly permit: Permit;
    }
  | Commit
  | { readonly kind: 'acknowledge'; readonly receipt: number }
  | { readonly kind: 'writeSlot'; readonly slot: SlotName; readonly bytes: Uint8Array }
  | { readonly kind: 'delivery'; readonly effect: DeliveryEffect }
  | ByKind<ModuleEffects>
  | { readonly kind: 'origin'; readonly originMs: number; readonly quality: FleetEvent['timeQuality'] }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn' | 'error';
      readonly event: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };
