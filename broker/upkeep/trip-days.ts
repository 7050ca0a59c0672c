// Finds the trips and stops of ended days in the background, device after device, so that reports need not read their events. What it stores
// decides nothing: a report is the same without it. One process does it, a tenth of the time at most, and lets vehicles go first.
import { dayMs, hourMs } from '../../src/core/durations.ts';
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { wholeAccount } from '../store/base/scope.ts';
import {
  beforeAll,
  blockStart,
  dayProofs,
  deviceAfter,
  dropTripDay,
  type NumberedDevice,
  nextBlock,
  putTripDay,
  readTripDay,
  type TripDay,
  tripDaysBetween,
} from '../store/events/trip-days.ts';

const limits = {
  /** The longest period of a fleet's report, and what a report reads before it. */
  days: 37,
  /** Days that one run reads. */
  daysAtOnce: 4,
  /** A run is followed by a pause of so many times its duration, and of at least so many ms. */
  pauseFactor: 9,
  pauseLeastMs: 20,
  lagMostMs: 500,
  idleMs: 5000,
  /** Between two rounds through all devices. */
  roundMs: hourMs,
} as const;

export interface TripDaysOptions {
  readonly db: Database;
  readonly archive: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
  readonly isOurs: () => boolean;
}

/** No row is of a later one: those of a clock that was ahead are removed too. */
const lastDay = 2 ** 31 - 1;

const nameOf = ({ day, fromKey }: Pick<TripDay, 'day' | 'fromKey'>): string => `${day} ${fromKey}`;

/**
 * Reads some days of a device that are not stored: for each block of days in which a report may begin to read, until it gets where one of an
 * earlier block has been. Then removes what no report finds any more. True when there is more to read.
 */
export async function storeTripDays(
  { db, archive }: Pick<TripDaysOptions, 'db' | 'archive'>,
  { deviceNo, accountID, deviceID }: NumberedDevice,
  nowMs: number,
): Promise<boolean> {
  const device = { scope: wholeAccount(accountID), deviceID, deviceNo };
  const today = Math.floor(nowMs / dayMs);
  const firstDay = blockStart(today - limits.days);
  const before = await tripDaysBetween(archive, device, [0, lastDay]);
  const span = { ...device, fromMs: firstDay * dayMs, toMs: today * dayMs - 1 };
  const proofs = await dayProofs(archive, span);
  const known = new Map(
    before.filter(({ day, proof }) => proofs.get(day) === proof).map((one) => [nameOf(one), one]),
  );
  const reached = new Set<string>();
  const made: TripDay[] = [];
  /** `torn`: events came or went meanwhile. */
  let end: 'whole' | 'more' | 'torn' = 'whole';
  for (let block = firstDay; block < today && end === 'whole'; block = nextBlock(block)) {
    let at = beforeAll;
    for (const [day, proof] of proofs) {
      const name = nameOf({ day, fromKey: at.toKey });
      if (day < block) continue;
      if (reached.has(name)) break;
      if (!known.has(name) && made.length === limits.daysAtOnce) end = 'more';
      if (end === 'more') break;
      const found = known.get(name) ?? (await readTripDay(archive, { ...device, day }, at));
      if (found.proof !== proof) end = 'torn';
      if (end === 'torn') break;
      if (!known.has(name)) made.push(found);
      reached.add(name);
      at = found;
    }
  }
  const stale = end === 'whole' ? before.filter((one) => !reached.has(nameOf(one))) : [];
  const statements = [...made.map(putTripDay), ...stale.map(dropTripDay)];
  if (statements.length > 0) await db.write(statements);
  return end === 'more';
}

/** Starts the work; it goes on until `close`. */
export function createTripDays(options: TripDaysOptions): { close(): Promise<void> } {
  const { archive, clock, log, lagMs, isOurs } = options;
  let afterNo = 0;
  const run = async (): Promise<number> => {
    if (!isOurs() || lagMs() > limits.lagMostMs) return limits.idleMs;
    const beganMs = clock.monoMs();
    try {
      const device = await deviceAfter(archive, afterNo);
      if (device === null) {
        afterNo = 0;
        return limits.roundMs;
      }
      const doneNo = afterNo;
      afterNo = device.deviceNo;
      if (await storeTripDays(options, device, Math.round(clock.utcMs()))) afterNo = doneNo;
    } catch (thrown) {
      // What fails must not keep the other devices waiting.
      log.error('trip_days_failed', { afterNo, reason: messageOf(thrown) });
      return limits.idleMs;
    }
    return Math.max(limits.pauseLeastMs, limits.pauseFactor * (clock.monoMs() - beganMs));
  };
  return createPeriodicTask({ clock, firstMs: limits.idleMs, run });
}
