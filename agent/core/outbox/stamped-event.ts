// An event in the form that the vehicle passes to the outbox. Types only.
import type { FleetEvent } from '../../../src/core/events/event.ts';
import type { Priority } from '../../../src/core/events/status-codes.ts';

/** An event with its time and place; the outbox assigns its number. */
export interface StampedEvent {
  readonly event: Omit<FleetEvent, 'seq'>;
  readonly priority: Priority;
}
