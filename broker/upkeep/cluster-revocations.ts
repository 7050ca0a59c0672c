// Ends connections at a cluster that would no longer be let in: the secret was replaced, the device deleted, the account
// suspended, over or deleted, whichever process did it. Every login that was ever allowed is on record until its connection
// was ended, so no restart of a bridge loses one; that several bridges look at once does no harm.
import { messageOf } from '../../src/core/errors.ts';
import type { DeviceAddress } from '../../src/core/topics.ts';
import type { Cancel, Clock, Database, Log } from '../../src/ports.ts';
import { forgetClusterLogin, type StaleLogin, staleClusterLogins } from '../store/cluster.ts';
import { createRounds } from '../work/rounds.ts';
import { askEach } from './cluster-asks.ts';

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
/** Logins that are read at once. A look goes on, page after page, to the end. */
const pageRows = 200;
/** From the answer to a login until its connection is there to be ended at the latest, in ms. */
const settlingMs = 5000;

/** Ends the connections of one page. Gives false when the cluster does not answer: the rest may wait. */
async function endPage(options: ClusterRevocationsOptions, page: readonly StaleLogin[]): Promise<boolean> {
  const { db, clock, log, disconnect, onEnded } = options;
  const settled: StaleLogin[] = [];
  const { failures, reason, isGivenUp } = await askEach(page, async (login) => {
    const { accountID, deviceID, deviceNo, atMs, fault } = login;
    // Asked for again until the connection of that login cannot come about any more.
    const isSettled = clock.utcMs() - atMs > settlingMs;
    await disconnect({ accountID, deviceID }, fault);
    onEnded(deviceNo);
    if (isSettled) settled.push(login);
  });
  if (reason !== null) log.error('connections not ended', { count: failures, reason, isGivenUp });
  // One commit for all of them.
  if (settled.length > 0) await db.write(settled.map(forgetClusterLogin));
  for (const { accountID, deviceID, fault } of settled)
    log.warn('connection ended', { accountID, deviceID, reason: fault });
  return !isGivenUp;
}

/** An account of 10,000 vehicles that was suspended is ended in one look. */
async function look(options: ClusterRevocationsOptions): Promise<void> {
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
    await look(options).catch((thrown: unknown) => {
      options.log.error('revocations not read', { reason: messageOf(thrown) });
    });
    return periodMs;
  };
  const rounds = createRounds({ clock: options.clock, firstMs: periodMs, run });
  return () => void rounds.close();
}
