// The caches of all accounts: made at the first request of an account, the least recently used evicted first.
import type { Clock, Database } from '../../../src/ports.ts';
import type { FleetCache, FleetCaller } from '../../ports/fleet-cache.ts';
import { deviceRevision } from '../../store/devices/fleet.ts';
import { findDetails } from '../devices/device-details.ts';
import { AccountCache } from './account-cache.ts';
import { deviceJson, deviceOfView } from './device-json.ts';
import { NotCached } from './not-cached.ts';
import { createUnchangedAnswers } from './unchanged-answers.ts';

/** Bytes of JSON of all accounts: some 120,000 devices. */
const bytesDefault = 256 * 2 ** 20;
/** Single devices that are held besides the caches of fleets. */
const singlesMost = 10_000;

interface Single {
  readonly revision: number;
  readonly json: Buffer;
}

/** A fleet that is too large is not tried again for this long. */
const tooLargeMs = 600_000;

export interface FleetCacheOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Most bytes of JSON held for all accounts; an account gets half of it at most. */
  readonly bytesMost?: number | undefined;
}

export function createFleetCache({ db, clock, bytesMost = bytesDefault }: FleetCacheOptions): FleetCache {
  /** When an account was found too large, by `monoMs`. */
  const tooLarge = new Map<string, number>();
  /** In the order of use, the most recently used last. */
  const caches = new Map<string, AccountCache>();
  const singles = new Map<number, Single>();
  const unchanged = createUnchangedAnswers();

  function cacheOf(accountID: string): AccountCache {
    const cache = caches.get(accountID) ?? new AccountCache(db, accountID, bytesMost / 2);
    caches.delete(accountID);
    caches.set(accountID, cache);
    return cache;
  }

  function evict(): void {
    let bytes = 0;
    for (const cache of caches.values()) bytes += cache.bytes;
    for (const [accountID, cache] of caches) {
      if (bytes <= bytesMost || caches.size === 1) return;
      bytes -= cache.bytes;
      caches.delete(accountID);
    }
  }

  async function unlessTooLarge<T>(
    { scope }: FleetCaller,
    ask: (cache: AccountCache) => Promise<T>,
  ): Promise<T | null> {
    const { accountID } = scope;
    const sinceMs = tooLarge.get(accountID);
    if (sinceMs !== undefined && clock.monoMs() - sinceMs < tooLargeMs) return null;
    tooLarge.delete(accountID);
    try {
      const answer = await ask(cacheOf(accountID));
      evict();
      return answer;
    } catch (thrown) {
      // A client that left, or waits in too long a queue, says nothing of the fleet: what is held of it stays.
      if (!(thrown instanceof NotCached)) throw thrown;
      caches.delete(accountID);
      tooLarge.set(accountID, clock.monoMs());
      return null;
    }
  }

  async function readSingle(caller: FleetCaller, deviceID: string): Promise<Buffer | null> {
    const details = await findDetails(db, caller.scope, deviceID);
    if (details === null) return null;
    const { deviceNo, revision } = details.row;
    const json = deviceJson(details);
    singles.delete(deviceNo);
    singles.set(deviceNo, { revision, json });
    const [oldest] = singles.keys();
    if (singles.size > singlesMost && oldest !== undefined) singles.delete(oldest);
    return json;
  }

  return {
    part: (caller, range) => unlessTooLarge(caller, (cache) => cache.part(caller, range)),
    zones: (caller, mayUpdate) => unlessTooLarge(caller, (cache) => cache.zones(caller, mayUpdate)),
    unchanged: (caller, key, make) => unchanged.get(caller, key, make),
    device: (caller, deviceID, mayUpdate) =>
      unchanged.get(caller, `device ${deviceID} ${mayUpdate}`, async () => {
        const now = await deviceRevision(db, caller.scope, deviceID);
        if (now === null) return null;
        const known = singles.get(now.deviceNo);
        const json = known?.revision === now.revision ? known.json : await readSingle(caller, deviceID);
        return json === null ? null : deviceOfView(json, { mayUpdate, names: null });
      }),
  };
}
