// An event as the vehicle gives it to the outbox. Types only.
import type { FleetEvent } from '../../../src/core/events/event.ts';
import type { Priority } from '../../../src/core/events/status-codes.ts';

/** An event with its time and place, ready for the outbox, which gives it its number. */
export interface StampedEvent {
  readonly event: Omit<FleetEvent, 'seq'>;
  readonly priority: Priority;
}
