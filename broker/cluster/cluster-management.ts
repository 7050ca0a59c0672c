// Watches the management interface of a cluster, from the start on: without it the connection of a vehicle whose secret was
// revoked is not closed. Vehicles are served all the same, so a bridge stays ready.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';

export interface ClusterManagementOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Rejects when no node answers, or with a refusal. */
  readonly probe: () => Promise<void>;
}

const periodMs = 15_000;
/** A lasting fault is logged once in so many probes. */
const logEvery = 40;

/** Probes at once and then every 15 s; gives the way to stop. */
export function watchClusterManagement({ clock, log, probe }: ClusterManagementOptions): Cancel {
  let failures = 0;
  const run = async (): Promise<number> => {
    try {
      await probe();
      if (failures > 0) log.info('cluster_management_restored', { failures });
      failures = 0;
    } catch (thrown) {
      if (failures % logEvery === 0)
        log.warn('cluster_management_unavailable', { reason: messageOf(thrown) });
      failures += 1;
    }
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs: 0, run });
  return () => void task.close();
}
