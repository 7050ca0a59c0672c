// Ends connections at a cluster that would no longer be let in: the secret was replaced, the device deleted, the account
// suspended, over or deleted, whichever process did it. Every login that was ever allowed is on record until its connection
// was ended, so no restart of a bridge loses one; that several bridges look at once does no harm.
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress } from '../../src/core/topics.ts';
import type { Cancel, Clock, Database, Log } from '../../src/ports.ts';
import { createRounds } from '../rounds.ts';
import { forgetClusterLogin, type StaleLogin, staleClusterLogins } from '../store/cluster.ts';

export interface ClusterRevocationsOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends every connection of the device. Rejects when it cannot. */
  readonly disconnect: (device: DeviceAddress, reason: string) => Promise<void>;
  /** The connection of this device was ended: no last will tells of that. */
  readonly onEnded: (deviceNo: number) => void;
}

const periodMs = 2000;
const rowsMost = 200;
/** From the answer to a login until its connection is there to be ended at the latest, in ms. */
const settlingMs = 5000;

async function end(options: ClusterRevocationsOptions, login: StaleLogin): Promise<void> {
  const { db, clock, log, disconnect, onEnded } = options;
  const { accountID, deviceID, deviceNo, atMs, fault } = login;
  // Asked for again until the connection of that login cannot come about any more.
  const isSettled = clock.utcMs() - atMs > settlingMs;
  await disconnect({ accountID, deviceID }, fault);
  onEnded(deviceNo);
  if (!isSettled) return;
  await db.write([forgetClusterLogin(login)]);
  log.warn('connection ended', { accountID, deviceID, reason: fault });
}

async function look(options: ClusterRevocationsOptions): Promise<void> {
  const { db, clock, log } = options;
  const stale = await staleClusterLogins(db, { nowS: Math.floor(clock.utcMs() / 1000), limit: rowsMost });
  const ended = await Promise.allSettled(stale.map((login) => end(options, login)));
  const failed = ended.filter((one) => one.status === 'rejected');
  const [first] = failed;
  if (first !== undefined)
    log.error('connections not ended', { count: failed.length, reason: messageOf(first.reason) });
}

/** Starts to look; gives the way to stop. */
export function watchClusterRevocations(options: ClusterRevocationsOptions): Cancel {
  const run = async (): Promise<number> => {
    await look(options).catch((thrown: unknown) => {
      options.log.error('revocations not read', { reason: messageOf(thrown) });
    });
    return periodMs;
  };
  const rounds = createRounds({ clock: options.clock, firstMs: periodMs, run });
  return () => void rounds.close();
}
