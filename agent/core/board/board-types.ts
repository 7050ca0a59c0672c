// Types of the board machine: inputs, outputs and state. The rules are in `board.ts`. The state must never hold the state of a relay, which is only
// ever read from the board.
import type { InputName } from '../../../src/core/events/event.ts';
import type { Permit } from '../../guard/guard.ts';
import type { AnalogName, BoardProfile, RelayName } from './board-profile.ts';
import type { SetupProgress } from './board-setup.ts';
import type { ModbusRequest } from './modbus-frame.ts';
import type { RelayMove, RelayOrder, RelayOutcome } from './relay-order.ts';
import type { RtuMasterState } from './rtu-types.ts';

export type BoardInput =
  | { readonly kind: 'up'; readonly atMs: number }
  | { readonly kind: 'down'; readonly atMs: number; readonly reason: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly atMs: number }
  | { readonly kind: 'time'; readonly atMs: number }
  | {
      readonly kind: 'setRelay';
      readonly relay: RelayName;
      readonly energised: boolean;
      /** The board opens the relay by itself after this time, if it can; the caller orders the opening as well. */
      readonly holdMs?: number;
      /** Chosen by the caller; returned in the result. */
      readonly token: string;
      /** Monotonic time after which the write is not sent, ms. */
      readonly deadlineMs: number;
      readonly atMs: number;
    };

export type BoardOutput =
  | { readonly kind: 'write'; readonly bytes: Uint8Array; readonly permit: Permit }
  /** Raw bits of one poll, before inversion and debouncing (`inputs.ts`); null: unknown. */
  | {
      readonly kind: 'inputs';
      readonly atMs: number;
      readonly values: Readonly<Partial<Record<InputName, boolean | null>>>;
    }
  /** Fuel as a fraction of the tank, supply in volts; null: unknown or outside the valid range. */
  | {
      readonly kind: 'analogs';
      readonly atMs: number;
      readonly values: Readonly<Partial<Record<AnalogName, number | null>>>;
    }
  /** As just read from the board; true: energised. */
  | {
      readonly kind: 'relays';
      readonly atMs: number;
      readonly values: Readonly<Partial<Record<RelayName, boolean | null>>>;
    }
  /** Input of the loop-back after inversion; true: it reads the output as energised; null: unknown. */
  | { readonly kind: 'loopback'; readonly atMs: number; readonly on: boolean | null }
  | { readonly kind: 'boardUp'; readonly unit: number; readonly reason: string }
  /** One unit is silent, or (`unit` null) the link is down. */
  | { readonly kind: 'boardDown'; readonly unit: number | null; readonly reason: string }
  /** Board and profile disagree at this place; `reason` null: they agree again. */
  | { readonly kind: 'problem'; readonly place: string; readonly reason: string | null }
  | {
      readonly kind: 'relayResult';
      readonly relay: RelayName;
      readonly token: string;
      readonly outcome: RelayOutcome;
      readonly reason: string | null;
      readonly readBack: boolean | null;
    };

export type BoardPurpose =
  | { readonly kind: 'poll'; readonly poll: string }
  | { readonly kind: 'setup'; readonly at: number }
  | { readonly kind: 'relayWrite' | 'relayRead'; readonly relay: RelayName };

export interface PendingJob {
  readonly id: number;
  readonly purpose: BoardPurpose;
  readonly request: ModbusRequest;
}

interface PollState {
  readonly nextAtMs: number;
  readonly isPending: boolean;
  /** Monotonic time at which the last answered request was sent, ms; its data is no older. Null: none was answered. */
  readonly askedMs: number | null;
}

export interface UnitState {
  /** Null: neither an answer nor a time-out since the link came up. */
  readonly isUp: boolean | null;
  readonly failures: number;
  /** Its relays were read since it came up, so they may be written. */
  readonly areRelaysRead: boolean;
}

interface ActiveOrder extends RelayOrder {
  readonly jobId: number;
  /** Next move of the order, which waits for the urgent poll; null: its job is with the master. */
  readonly held: RelayMove | null;
}

export interface LifeState {
  /** Null: unknown. */
  readonly isAlive: boolean | null;
  readonly atMs: number;
  /** Monotonic start of an unbroken row of 0 readings, ms; null: it does not read 0. */
  readonly deadSinceMs: number | null;
}

export interface BoardState {
  readonly profile: BoardProfile;
  readonly master: RtuMasterState;
  readonly isLinkUp: boolean;
  readonly nextId: number;
  /** Jobs at the master; a few at most. */
  readonly jobs: readonly PendingJob[];
  readonly polls: Readonly<Record<string, PollState>>;
  readonly units: Readonly<Record<string, UnitState>>;
  readonly setup: readonly SetupProgress[];
  readonly orders: Readonly<Partial<Record<RelayName, ActiveOrder>>>;
  readonly problems: Readonly<Record<string, string>>;
  readonly life: LifeState;
  /** The urgent poll has just ended: one other exchange may go before it is due again (`poll-order.ts`). */
  readonly mayInterpose: boolean;
  /** Monotonic time at which a `time` input is due, ms; null: never. */
  readonly wakeAtMs: number | null;
}
