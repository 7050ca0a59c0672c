// Removes the events, notifications and alarms of deleted devices, a few hundred at a time, so vehicles never wait for it. The
// next process continues. It must never touch rows of an existing device.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { endPurge, forgetPurged, nextToPurge, purgeRows } from '../store/devices/device-deletion.ts';
import { batchTargetMs, createPacedBatches } from './paced-batches.ts';

export interface PurgeOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
  /** False while another process does it; absent: there is none. */
  readonly isOurs?: () => boolean;
}

export interface Purge {
  close(): Promise<void>;
}

/** Of each kind. */
const rowsAtOnce = 500;
/** Rows of one vehicle lie far apart in the file: on a slow disk far fewer are a few milliseconds of work. */
const pieceRules = { targetMs: batchTargetMs, first: 200, least: 50, most: rowsAtOnce } as const;
/** Between two batches; some times what one takes. */
const pauseMs = 50;
/** Vehicles wait longer than this: they come first. */
const lagMostMs = 200;
const idleMs = 5000;
const nothingToDo = -1;
/** A finished deletion is kept this long, for other processes that still hold the device. */
const rememberedS = 3600;

/** One batch of at most `count` rows of each kind: rows deleted, or null when there is nothing to do. */
export async function purgeSome(
  { db, clock, log }: Omit<PurgeOptions, 'lagMs' | 'isOurs'>,
  count: number = rowsAtOnce,
): Promise<number | null> {
  const deviceNo = await nextToPurge(db);
  if (deviceNo === null) return null;
  const results = await db.write(await purgeRows(db, deviceNo, count));
  const deleted = results.reduce((sum, { changes }) => sum + changes, 0);
  if (deleted > 0) return deleted;
  const beforeS = Math.floor(clock.utcMs() / 1000) - rememberedS;
  await db.write([await endPurge(db, deviceNo), forgetPurged(beforeS)]);
  log.info('device_purged', { deviceNo });
  return 0;
}

/** Starts the work; it goes on until `close`. */
export function createPurge(options: PurgeOptions): Purge {
  const { clock, log, lagMs } = options;
  const pieces = createPacedBatches(clock, pieceRules);
  const step = async (): Promise<number> => {
    if (options.isOurs?.() === false || lagMs() > lagMostMs) return idleMs;
    try {
      const { rows } = await pieces.run(async (count) => (await purgeSome(options, count)) ?? nothingToDo);
      return rows === nothingToDo ? idleMs : pauseMs;
    } catch (thrown) {
      log.error('purge_failed', { reason: messageOf(thrown) });
      return idleMs;
    }
  };
  return createPeriodicTask({ clock, firstMs: pauseMs, run: step });
}
