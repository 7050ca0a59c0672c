// Work of which there is one, over several processes on one database: who does it holds a lease, shows with a beat every few
// seconds that he lives, and is replaced when he does not. It must never be the only thing that keeps an effect from happening
// twice: for a moment two may believe to hold it, so every effect carries its own condition.
import { messageOf } from '../../src/core/errors.ts';
import { hexId } from '../../src/core/ids.ts';
import type { Cancel, Clock, Database, Entropy, Log, News } from '../../src/ports.ts';
import { settleWithin } from '../../src/settle.ts';
import { createWakeLoop } from '../notify/wake-loop.ts';
import { beatLease, insertLease, type LeaseRow, listLeases, releaseLeases } from '../store/leases.ts';

/** Every piece of work that one process does for all. */
const leaseNames = ['notices', 'upkeep'] as const;
export type LeaseName = (typeof leaseNames)[number];

export const leaseLimits = {
  /** Between two beats. */
  beatMs: 3000,
  /** A holder who showed no beat for this long is replaced: within 15 s after his end, with the look that finds it. */
  silentMs: 12_000,
  /** A holder who could not show a beat for this long stops by himself, before anybody replaces him. */
  doubtMs: 9000,
  /** For giving them back at the end. */
  releaseMs: 1000,
} as const;

export interface Leases {
  /** Whether this process does that work now. */
  holds(name: LeaseName): boolean;
  /** Gives them back. */
  close(): Promise<void>;
}

/** A process that is alone does everything. */
export const alone: Leases = { holds: () => true, close: async () => undefined };

export interface LeasesOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  onNews(listener: (news: News) => void): Cancel;
}

interface Seen {
  readonly row: LeaseRow;
  /** Since when it has been as it is, by our own clock. */
  readonly sinceMs: number;
}

/** Starts to ask for all of them. */
export function createLeases({ db, clock, entropy, log, onNews }: LeasesOptions): Leases {
  const holder = hexId(entropy.bytes(16));
  const seen = new Map<LeaseName, Seen>();
  /** When the newest beat that the store took had been sent. */
  const heldMs = new Map<LeaseName, number>();
  let isClosed = false;
  const holds = (name: LeaseName): boolean => {
    const atMs = heldMs.get(name);
    return !isClosed && atMs !== undefined && clock.monoMs() - atMs < leaseLimits.doubtMs;
  };
  /** Ours, nobody's, or of one who has been silent for too long. */
  const isWanted = (name: LeaseName, row: LeaseRow): boolean => {
    const nowMs = clock.monoMs();
    const before = seen.get(name)?.row;
    if (before?.holder !== row.holder || before.beat !== row.beat) seen.set(name, { row, sinceMs: nowMs });
    const silentMs = nowMs - (seen.get(name)?.sinceMs ?? nowMs);
    return row.holder === holder || row.holder === '' || silentMs >= leaseLimits.silentMs;
  };
  const look = async (): Promise<void> => {
    const rows = await listLeases(db);
    const missing = leaseNames.filter((name) => !rows.has(name));
    if (missing.length > 0) await db.write(missing.map(insertLease));
    const wanted = leaseNames.flatMap((name) => {
      const row = rows.get(name) ?? { name, holder: '', beat: 0 };
      return isWanted(name, row) ? [{ name, row }] : [];
    });
    const sentMs = clock.monoMs();
    const results =
      wanted.length === 0 ? [] : await db.write(wanted.map(({ row }) => beatLease(row, holder)));
    for (const name of leaseNames) {
      const at = wanted.findIndex((one) => one.name === name);
      const isOurs = at >= 0 && results[at]?.changes === 1;
      if (isOurs && !heldMs.has(name)) log.info('lease-taken', { lease: name });
      if (!isOurs && heldMs.has(name)) log.warn('lease-lost', { lease: name });
      if (isOurs) heldMs.set(name, sentMs);
      else heldMs.delete(name);
    }
  };
  const loop = createWakeLoop({
    clock,
    everyMs: leaseLimits.beatMs,
    gatherMs: 0,
    run: () => look().catch((thrown: unknown) => log.error('leases-unread', { reason: messageOf(thrown) })),
  });
  const stopListening = onNews(({ kinds }) => {
    if (kinds?.includes('leases') === true) loop.wake();
  });
  return {
    holds,
    async close() {
      isClosed = true;
      stopListening();
      const release = async (): Promise<void> => {
        await loop.close();
        await db.write([releaseLeases(holder)]);
      };
      await settleWithin(
        clock,
        release().catch(() => undefined),
        leaseLimits.releaseMs,
      );
    },
  };
}
