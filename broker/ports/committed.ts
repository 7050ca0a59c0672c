// What ingest publishes after a commit, for the ledger, the rollout, live streams and metrics. Types only.
import type { FleetEvent } from '../../src/core/events/event.ts';
import type { DeviceRef } from '../core/device-key.ts';
import type { Projection } from '../core/events/projection.ts';

/** Events just committed; `projection` is what they say. */
export interface Committed {
  readonly device: DeviceRef;
  readonly boot: string | null;
  readonly fresh: readonly FleetEvent[];
  /** The number in the store of each event of `fresh`. */
  readonly eventNos: readonly number[];
  /** The boot that each event of `fresh` is stored under: a run of its own when another event has its number. Absent: `boot`. */
  readonly boots?: readonly string[] | undefined;
  /** When the payload came in, by the broker's clock. */
  readonly receivedMs: number;
  readonly projection: Projection;
}
