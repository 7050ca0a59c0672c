// A decoded payload as input of the planner, and the outcome of its events. Types only.
import type { FleetEvent } from '../../src/core/events/event.ts';
import type { Statement } from '../../src/ports.ts';
import type { Projection } from '../core/events/projection.ts';
import type { Range } from '../core/events/stored-numbers.ts';

export interface DecodedPayload {
  readonly deviceNo: number;
  /** Null: bare events, which have no numbers. */
  readonly boot: string | null;
  /** True: the sender makes the boot at random at each start, so a number is never used twice and alone identifies a repeat. */
  readonly isRandomBoot?: boolean;
  /** Of bare events that another server sent, see `Forwarded`. */
  readonly key?: string | undefined;
  readonly events: readonly FleetEvent[];
  readonly ranges: readonly Range[];
  /** State that all of its events produce. */
  readonly projection: Projection;
  readonly receivedMs: number;
  /** Time of the last contact with the device; 0: a person made the record. */
  readonly lastContactMs: number;
  /** Further statements of the same batch, which depend on what was stored before. */
  readonly also: readonly Statement[];
}

export type EventOutcome =
  | {
      readonly kind: 'stored';
      /** New events. For each, its number in the store and the boot under which it is stored (absent: as sent). */
      readonly fresh: readonly FleetEvent[];
      readonly eventNos: readonly number[];
      readonly boots: readonly string[] | undefined;
      /** Number of these with a number that another event has. */
      readonly reused: number;
      readonly projection: Projection;
      /** All events of the boot up to this number are stored. */
      readonly upTo: number;
    }
  | { readonly kind: 'gone' };
