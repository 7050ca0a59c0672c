// Opens a new slice of the events each week of receipt, or earlier when the one that is open is full. It must never run
// while vehicles wait for the disk. A clock jump makes a slice shorter or longer, and never loses an event.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { openNext, openSlice } from '../store/slices/slice-writing.ts';

export interface SlicingOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
}

export interface Slicing {
  close(): Promise<void>;
}

export const sliceRules = {
  /** Slices begin with a week, counted from the epoch. */
  widthMs: 604_800_000,
  /** A slice with so many events is closed early, so that none takes hours to empty: two a day of 5,000 busy vehicles. */
  eventsMost: 20_000_000,
} as const;

const firstMs = 5000;
const periodMs = 60_000;
/** Vehicles wait longer than this: they come first, unless the slice is far too full. */
const lagMostMs = 200;

const weekOf = (atMs: number): number => Math.floor(atMs / sliceRules.widthMs);

/** True when the slice should be closed: it is full, or of an earlier week. One that is empty stays. */
export function isOver(slice: { readonly taken: number; readonly openedMs: number }, nowMs: number): boolean {
  if (slice.taken === 0) return false;
  return slice.taken >= sliceRules.eventsMost || weekOf(nowMs) > weekOf(slice.openedMs);
}

/** Opens the next slice when it is due. True when it did. */
export async function sliceOnce(db: Database, nowMs: number): Promise<boolean> {
  const slice = await openSlice(db);
  if (slice.sliceNo === 0 || !isOver(slice, nowMs)) return false;
  try {
    await db.write(openNext(slice.sliceNo, nowMs));
    return true;
  } catch (thrown) {
    // Another process was first.
    if ((await openSlice(db)).sliceNo > slice.sliceNo) return false;
    throw thrown;
  }
}

/** Starts the work; it goes on until `close`. */
export function createSlicing({ db, clock, log, lagMs }: SlicingOptions): Slicing {
  const run = async (): Promise<number> => {
    if (lagMs() > lagMostMs) return periodMs;
    try {
      if (await sliceOnce(db, Math.round(clock.utcMs()))) log.info('slice_opened');
    } catch (thrown) {
      log.error('slicing_failed', { reason: messageOf(thrown) });
    }
    return periodMs;
  };
  return createPeriodicTask({ clock, firstMs, run });
}
