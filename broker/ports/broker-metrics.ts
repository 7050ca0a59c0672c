// The broker's own figures, read on demand. Types only.
import type { HourCount } from '../core/operating/hour-counts.ts';
import type { Hold } from '../core/scheduling/event-budget.ts';

export interface BrokerMetrics {
  readonly connections: number;
  /** Connections that wait for their handshake. */
  readonly arrivals: number;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: number;
  /** Writes that wait for a commit or are in one, and the values in those that wait. */
  readonly waiting: { readonly writes: number; readonly values: number };
  /** Publishes that waited for the limit of their device or account, and devices of which some wait now. */
  readonly limited: { readonly held: Readonly<Record<Hold, number>>; readonly waiting: number };
  /** Devices over a limit within the last hour. */
  readonly overLimit: readonly HourCount[];
  readonly payloads: number;
  readonly events: number;
  readonly duplicates: number;
  readonly reused: number;
  readonly quarantined: number;
  readonly failures: number;
}
