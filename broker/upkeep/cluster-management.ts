// Says whether the management interface of a cluster does what is asked of it, at the start and from then on: without it the
// connection of a vehicle whose secret was revoked is not ended. Vehicles are served all the same, so a bridge stays ready.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Log } from '../../src/ports.ts';
import { createRounds } from '../work/rounds.ts';

export interface ClusterManagementOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Rejects when no node answers, or with a refusal. */
  readonly probe: () => Promise<void>;
}

const periodMs = 15_000;
/** Between two words of a fault that lasts, in probes. */
const saidEvery = 40;

/** Probes at once and then every 15 s; gives the way to stop. */
export function watchClusterManagement({ clock, log, probe }: ClusterManagementOptions): Cancel {
  let failures = 0;
  const run = async (): Promise<number> => {
    try {
      await probe();
      if (failures > 0) log.info("the cluster's management answers again", { failures });
      failures = 0;
    } catch (thrown) {
      if (failures % saidEvery === 0)
        log.warn('revoked vehicles cannot be disconnected', { reason: messageOf(thrown) });
      failures += 1;
    }
    return periodMs;
  };
  const rounds = createRounds({ clock, firstMs: 0, run });
  return () => void rounds.close();
}
