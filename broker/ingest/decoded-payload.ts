// A payload that was read, as the planner takes it, and what becomes of its events. Types only.
import type { FleetEvent } from '../../src/core/events/event.ts';
import type { Statement } from '../../src/ports.ts';
import type { Projection } from '../core/events/projection.ts';
import type { Range } from '../core/events/stored-numbers.ts';

/** A payload that was read. */
export interface DecodedPayload {
  readonly deviceNo: number;
  /** Null: bare events, which have no numbers. */
  readonly boot: string | null;
  /** True: made at random at each start of the sender, so that a number is never used twice and alone tells a repeat. */
  readonly isRandomBoot?: boolean;
  readonly events: readonly FleetEvent[];
  /** The numbers of the events. */
  readonly ranges: readonly Range[];
  /** What all of the events say. */
  readonly projection: Projection;
  readonly receivedMs: number;
  /** When the device itself sent something; 0 when a person made the record. */
  readonly lastContactMs: number;
  /** Further statements of the same batch, which depend on what was stored before. */
  readonly also: readonly Statement[];
}

export type EventOutcome =
  | {
      readonly kind: 'stored';
      /** Events that were not there before, and for each its number in the store and the boot that it is stored under (absent: as sent). */
      readonly fresh: readonly FleetEvent[];
      readonly eventNos: readonly number[];
      readonly boots: readonly string[] | undefined;
      /** How many of them have a number that another event has. */
      readonly reused: number;
      readonly projection: Projection;
      /** All of the boot up to here are stored. */
      readonly upTo: number;
    }
  | { readonly kind: 'gone' };
