// Leases for work that only one of several processes on one database does. The holder renews its lease every few seconds; a lease that is not renewed
// passes to another process. For a moment two processes may believe that they hold it. A lease must therefore never be the only protection against
// doing something twice: every effect carries its condition.
import { messageOf } from '../../src/core/errors.ts';
import { hexId } from '../../src/core/ids.ts';
import type { Cancel, Clock, CommitNotice, Database, Entropy, Log } from '../../src/ports.ts';
import { waitAtMost } from '../../src/timeout.ts';
import type { LeaseFacts } from '../core/operating/service-facts.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { insertLease, type LeaseRow, listLeases, releaseLeases, renewLease } from '../store/leases.ts';

const leaseNames = ['notifications', 'upkeep'] as const;
export type LeaseName = (typeof leaseNames)[number];

export const leaseLimits = {
  /** Period of the renewal. */
  beatMs: 3000,
  /** Time without a renewal after which a lease is taken over: within 15 s after the end of its holder. */
  silentMs: 12_000,
  /** Time without a successful renewal after which a holder stops by itself, before another process takes the lease. */
  doubtMs: 9000,
  /** Maximum time to release them at the end. */
  releaseMs: 1000,
} as const;

/** Number of characters of a holder's id shown to operators: enough to distinguish bridges. */
const shownHolder = 8;

export interface Leases {
  holds(name: LeaseName): boolean;
  /** All leases as seen by this process; empty for a single process. */
  list(): readonly LeaseFacts[];
  close(): Promise<void>;
}

/** A single process does everything. */
export const alwaysHeld: Leases = {
  holds: () => true,
  list: () => [],
  close: async () => undefined,
};

export interface LeasesOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  onCommit(listener: (commit: CommitNotice) => void): Cancel;
}

interface Seen {
  readonly row: LeaseRow;
  /** Monotonic time since which the row is unchanged, by the clock of this process, ms. */
  readonly sinceMs: number;
}

/** Starts to apply for all of them. */
export function createLeases({ db, clock, entropy, log, onCommit }: LeasesOptions): Leases {
  const holder = hexId(entropy.bytes(16));
  const seen = new Map<LeaseName, Seen>();
  /** Monotonic time at which the newest accepted beat had been sent, ms. */
  const heldMs = new Map<LeaseName, number>();
  let isClosed = false;
  const holds = (name: LeaseName): boolean => {
    const atMs = heldMs.get(name);
    return !isClosed && atMs !== undefined && clock.monoMs() - atMs < leaseLimits.doubtMs;
  };
  /** True when the lease is ours, free, or not renewed for too long. */
  const isWanted = (name: LeaseName, row: LeaseRow): boolean => {
    const nowMs = clock.monoMs();
    const before = seen.get(name)?.row;
    if (before?.holder !== row.holder || before.beat !== row.beat) seen.set(name, { row, sinceMs: nowMs });
    const silentMs = nowMs - (seen.get(name)?.sinceMs ?? nowMs);
    return row.holder === holder || row.holder === '' || silentMs >= leaseLimits.silentMs;
  };
  const renewAll = async (): Promise<void> => {
    const rows = await listLeases(db);
    const missing = leaseNames.filter((name) => !rows.has(name));
    if (missing.length > 0) await db.write(missing.map(insertLease));
    const wanted = leaseNames.flatMap((name) => {
      const row = rows.get(name) ?? { name, holder: '', beat: 0 };
      return isWanted(name, row) ? [{ name, row }] : [];
    });
    const sentMs = clock.monoMs();
    const results =
      wanted.length === 0 ? [] : await db.write(wanted.map(({ row }) => renewLease(row, holder)));
    for (const name of leaseNames) {
      const at = wanted.findIndex((one) => one.name === name);
      const isOurs = at >= 0 && results[at]?.changes === 1;
      if (isOurs && !heldMs.has(name)) log.info('lease_taken', { lease: name });
      if (!isOurs && heldMs.has(name)) log.warn('lease_lost', { lease: name });
      if (isOurs) heldMs.set(name, sentMs);
      else heldMs.delete(name);
    }
  };
  const loop = createPeriodicTask({
    clock,
    firstMs: 0,
    async run() {
      await renewAll().catch((thrown: unknown) =>
        log.error('leases_unreadable', { reason: messageOf(thrown) }),
      );
      return leaseLimits.beatMs;
    },
  });
  const stopListening = onCommit(({ topics }) => {
    if (topics?.includes('leases') === true) loop.wake();
  });
  return {
    holds,
    list: () =>
      [...seen].map(([name, { row, sinceMs }]) => ({
        name,
        holder: row.holder.slice(0, shownHolder),
        isOwn: holds(name),
        silentS: (clock.monoMs() - sinceMs) / 1000,
      })),
    async close() {
      isClosed = true;
      stopListening();
      const release = async (): Promise<void> => {
        await loop.close();
        await db.write([releaseLeases(holder)]);
      };
      await waitAtMost(
        clock,
        release().catch(() => undefined),
        leaseLimits.releaseMs,
      );
    },
  };
}
