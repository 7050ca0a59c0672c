// Closes connections at a cluster whose login would be refused now: the secret was replaced, the device deleted, the account
// suspended, expired or deleted, by whichever process. Every accepted login is recorded until its connection was closed, so a
// restart of a bridge loses none; several bridges may check at once.
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress } from '../../src/core/wire/topics.ts';
import type { Cancel, Clock, Database, Log } from '../../src/ports.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { forgetClusterLogin, type StaleLogin, staleClusterLogins } from '../store/cluster.ts';
import { queryEach } from './cluster-queries.ts';

export interface ClusterRevocationsOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends every connection of the device. Rejects when it cannot. */
  readonly disconnect: (device: DeviceAddress, reason: string) => Promise<void>;
  /** The connection of this device was closed, which publishes no last will. */
  readonly onEnded: (deviceNo: number) => void;
}

const periodMs = 2000;
/** Logins of one page; a check reads all pages. */
const pageRows = 200;
/** From the answer to a login until its connection is there to be ended at the latest, in ms. */
const connectWithinMs = 5000;

/** Closes the connections of one page. False when the cluster does not answer: the rest waits. */
async function endPage(options: ClusterRevocationsOptions, page: readonly StaleLogin[]): Promise<boolean> {
  const { db, clock, log, disconnect, onEnded } = options;
  const finished: StaleLogin[] = [];
  const { failures, reason, isGivenUp } = await queryEach(page, async (login) => {
    const { accountID, deviceID, deviceNo, atMs, fault } = login;
    // Repeated until a connection of that login can no longer be established.
    const isLast = clock.utcMs() - atMs > connectWithinMs;
    await disconnect({ accountID, deviceID }, fault);
    onEnded(deviceNo);
    if (isLast) finished.push(login);
  });
  if (reason !== null) log.error('disconnect_failed', { count: failures, reason, isGivenUp });
  // One commit for all of them.
  if (finished.length > 0) await db.write(finished.map(forgetClusterLogin));
  for (const { accountID, deviceID, fault } of finished)
    log.warn('connection_closed', { accountID, deviceID, reason: fault });
  return !isGivenUp;
}

/** An account of 10,000 vehicles that was suspended is ended in one look. */
async function closeStale(options: ClusterRevocationsOptions): Promise<void> {
  const nowS = Math.floor(options.clock.utcMs() / 1000);
  let afterNo = 0;
  for (;;) {
    const page = await staleClusterLogins(options.db, { nowS, limit: pageRows, afterNo });
    const last = page.at(-1);
    if (last === undefined || !(await endPage(options, page)) || page.length < pageRows) return;
    afterNo = last.deviceNo;
  }
}

/** Starts to look; gives the way to stop. */
export function watchClusterRevocations(options: ClusterRevocationsOptions): Cancel {
  const run = async (): Promise<number> => {
    await closeStale(options).catch((thrown: unknown) => {
      options.log.error('revocation_check_failed', { reason: messageOf(thrown) });
    });
    return periodMs;
  };
  const task = createPeriodicTask({ clock: options.clock, firstMs: periodMs, run });
  return () => void task.close();
}
