// Stores payloads of devices and records that users create. The steps are in `pipeline.ts`.
import type { Clock, Database, Log, Statement } from '../../src/ports.ts';
import type { Completion } from '../core/completion.ts';
import type { DeviceRef } from '../core/device-key.ts';
import type { Committed } from '../ports/committed.ts';
import type { GroupCommit } from '../scheduling/group-commit.ts';
import { createEventPlanner } from './event-plan.ts';
import { type IngestCounts, OpenPayloads, type Outcome } from './open-payloads.ts';
import { quarantine, type Unreadable } from './payload-quarantine.ts';
import { type Forwarded, type PipelineDeps, storePayload } from './pipeline.ts';

export interface IngestOptions {
  readonly db: Database;
  readonly commits: GroupCommit;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after the commit and before the payload is answered; must not throw. */
  readonly onCommitted: (committed: Committed) => void;
}

export interface Ingest {
  /**
   * Stores the events of one payload; completes in order of arrival, once they are durable. Fails with an AppError when the store failed or is
   * overloaded: the payload must then not be acknowledged.
   * @returns the number of events in it.
   */
  take(device: DeviceRef, payload: Uint8Array, completion: Completion<Outcome>): number;
  /**
   * The same as a promise.
   * @param also for a record that a user created, which does not update the heartbeat: statements of the same batch, such as its audit entry.
   */
  submit(
    device: DeviceRef,
    payload: Uint8Array,
    also?: readonly Statement[],
    forwarded?: Forwarded,
  ): Promise<Outcome>;
  /** Stores an unreadable payload of another topic. */
  quarantine(device: DeviceRef, unreadable: Unreadable): Promise<Outcome>;
  counts(): IngestCounts;
  /** Waits for submitted work and refuses any further. */
  close(): Promise<void>;
}

const nothing: readonly Statement[] = [];

/** Builds the ingest side of the broker on a group commit that other services may share. */
export function createIngest(options: IngestOptions): Ingest {
  const open = new OpenPayloads();
  const deps: PipelineDeps = { ...options, open, planner: createEventPlanner(options.db) };
  return {
    take: (device, payload, completion) => storePayload(deps, { device, payload, also: nothing }, completion),
    submit: (device, payload, also = nothing, forwarded) =>
      new Promise(
        (done, fail) => void storePayload(deps, { device, payload, also, forwarded }, { done, fail }),
      ),
    quarantine: (device, unreadable) =>
      new Promise((done, fail) => {
        const completion: Completion<Outcome> = { done, fail };
        if (open.begin(completion)) quarantine(deps, device, unreadable, completion);
      }),
    counts: () => ({ ...open.counts }),
    close: () => open.close(),
  };
}
