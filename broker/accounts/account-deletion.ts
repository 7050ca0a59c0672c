// Removes the rows of a deleted account in small batches, so that vehicles never wait for it: devices, then the rest, while
// the purge removes the events of the devices. A later process continues what an ended one left. It must never touch an
// account that is not being deleted, nor a device whose engine is cut off.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { isDataFault } from '../core/store-faults.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import {
  accountsToClear,
  accountTables,
  clearTable,
  devicesLeft,
  dropCommands,
  emptyDetails,
  endDeletion,
  hasEventsLeft,
  isBeingDeleted,
} from '../store/accounts/account-deletion.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import { wholeAccount } from '../store/base/scope.ts';
import { deleteDevice } from '../store/devices/device-deletion.ts';

export interface DeletionPorts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Tables of features, see `clearedTables` of `Feature`; cleared before those of the kernel. */
  readonly featureTables: readonly (readonly [table: string, key: string])[];
}

/**
 * `more`: something was deleted, there may be more. `waiting`: the events of its devices are still being cleared away, or
 * a device is cut off after all. `gone`: nothing is left.
 */
type Progress = 'more' | 'waiting' | 'gone';

const devicesAtOnce = 20;

/** Deletes some devices; null when the account has none any more. */
async function clearDevices({ db, clock, log }: DeletionPorts, accountID: string): Promise<Progress | null> {
  let afterNo = 0;
  let isHindered = false;
  for (;;) {
    const devices = await devicesLeft(db, accountID, { afterNo, limit: devicesAtOnce });
    if (devices.length === 0) return isHindered ? 'waiting' : null;
    let deleted = 0;
    for (const device of devices) {
      const atS = Math.floor(clock.utcMs() / 1000);
      try {
        await db.write([
          dropCommands(device.deviceNo),
          ...deleteDevice(device, wholeAccount(accountID), atS),
        ]);
        deleted += 1;
      } catch (thrown) {
        if (!isDataFault(thrown)) throw thrown;
        isHindered = true;
        log.warn('account_deletion_blocked', { accountID, deviceID: device.deviceID });
      }
      afterNo = device.deviceNo;
    }
    if (deleted > 0) return 'more';
  }
}

/** One small batch of work on an account that is being deleted. */
export async function clearSome(ports: DeletionPorts, accountID: string): Promise<Progress> {
  const { db, clock, featureTables } = ports;
  const devices = await clearDevices(ports, accountID);
  if (devices !== null) return devices;
  for (const table of [...featureTables, ...accountTables]) {
    const [cleared] = await db.write([clearTable(table, accountID)]);
    if (cleared !== undefined && cleared.changes > 0) return 'more';
  }
  const [emptied] = await db.write([emptyDetails(accountID)]);
  if (emptied !== undefined && emptied.changes > 0) return 'more';
  if (await hasEventsLeft(db, accountID)) return 'waiting';
  const atMs = Math.round(clock.utcMs());
  const entry = { accountID: '', atMs, actor: 'service', source: '', object: accountID, detail: {} };
  // Before the statement that makes its condition untrue: of two processes one reports.
  const audit = insertAudit({ ...entry, action: 'account.deleted' }, isBeingDeleted(accountID));
  await db.write([audit, endDeletion(accountID)]);
  return 'gone';
}

export interface AccountDeletionOptions extends DeletionPorts {
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
  /** False while another process does it; absent: there is none. */
  readonly isOurs?: () => boolean;
}

const pauseMs = 50;
const idleMs = 5000;
/** Vehicles wait longer than this: they come first. */
const lagMostMs = 200;

/** Starts the work; it goes on until `close`. */
export function createAccountDeletion(options: AccountDeletionOptions): { close(): Promise<void> } {
  const { db, clock, log, lagMs } = options;
  const step = async (): Promise<number> => {
    if (options.isOurs?.() === false || lagMs() > lagMostMs) return idleMs;
    try {
      for (const accountID of await accountsToClear(db)) {
        const progress = await clearSome(options, accountID);
        if (progress === 'gone') log.info('account_deleted', { accountID });
        // One that waits does not hold up the next.
        if (progress !== 'waiting') return pauseMs;
      }
      return idleMs;
    } catch (thrown) {
      log.error('account_deletion_failed', { reason: messageOf(thrown) });
      return idleMs;
    }
  };
  return createPeriodicTask({ clock, firstMs: pauseMs, run: step });
}
