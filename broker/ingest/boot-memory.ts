// Cache of the stored numbers of boots that are sending, so that most payloads need no read of the database. The number of boots, and of ranges per
// boot, is bounded. The cache may be behind the store, or ahead of it by uncommitted plans. A decision based on it is written under the revision that
// it names (optimistic lock), so that the store refuses a stale one.
import type { Database } from '../../src/ports.ts';
import type { TimeSpan } from '../core/events/event-spans.ts';
import { addRange, type Range, type StoredNumbers, storedNumbers } from '../core/events/stored-numbers.ts';
import { type BootKey, lastRanges, rangesNear, readBoot } from '../store/events/boot-states.ts';

export interface BootState {
  readonly accountNo: number;
  readonly revision: number;
  /** All known ranges; with `floor` > 0 the store may hold further ones below it. */
  readonly stored: StoredNumbers;
  /** From this number on, all stored numbers are known. */
  readonly floor: number;
  readonly rangeCount: number;
  /** Earliest and latest time of its events; null: unknown, or nothing is stored. */
  readonly times: TimeSpan | null;
}

export interface BootMemory {
  /** State after the last plan, or else the store's state; null: the device was deleted. */
  find(key: BootKey): Promise<BootState | null>;
  /** The same from memory only; undefined: not in memory. @param name from `bootName`, as below. */
  peek(name: string): BootState | undefined;
  /** The state with all stored ranges around these runs, which may be below its floor. */
  widen(key: BootKey, state: BootState, runs: readonly Range[]): Promise<BootState>;
  /** Records the state after a plan. */
  keep(name: string, state: BootState): void;
  /** Drops the state after its plan was dropped. */
  forget(name: string): void;
}

/** Number of cached boots, some 300 bytes each; any other boot costs one look-up by key. */
const bootsMost = 100_000;
/** Number of cached ranges per boot, highest numbers first. A backlog with gaps has far more, and few of them matter again. */
const rangesMost = 64;

export const bootName = ({ deviceNo, boot }: BootKey): string => `${deviceNo}/${boot}`;

/** The state with at most `rangesMost` ranges; the dropped ones are below the new floor. */
function trimmed(state: BootState): BootState {
  const { ranges, upTo } = state.stored;
  if (ranges.length <= rangesMost) return state;
  const lowest = ranges.at(-rangesMost - 1)?.[1] ?? 0;
  return {
    ...state,
    stored: { upTo, ranges: ranges.slice(-rangesMost) },
    floor: Math.max(state.floor, lowest + 1),
  };
}

async function load(db: Database, key: BootKey): Promise<BootState | null> {
  const row = await readBoot(db, key);
  if (row === null) return null;
  const { accountNo, upTo, revision, rangeCount, times } = row;
  if (rangeCount === 0) {
    return { accountNo, revision, stored: { upTo, ranges: [] }, floor: 0, rangeCount, times };
  }
  // Read after the row: if another process writes in between, the ranges have a later revision, and the write is refused.
  const ranges = await lastRanges(db, key, rangesMost + 1);
  const stored = storedNumbers(upTo, ranges);
  return trimmed({ accountNo, revision, stored, floor: 0, rangeCount, times });
}

/** True when the state does not cover the neighbours of the run. */
export function isBelowFloor({ floor, stored }: BootState, [first, last]: Range): boolean {
  // A run that begins where `upTo` ends may join it to an unknown range.
  return floor > 0 && last > stored.upTo && first - 1 < floor;
}

/** @param most number of cached boots. */
export function createBootMemory(db: Database, most = bootsMost): BootMemory {
  /** Least recently used first. */
  const states = new Map<string, BootState>();
  const put = (name: string, state: BootState): void => {
    states.delete(name);
    states.set(name, state);
    if (states.size <= most) return;
    const [oldest] = states.keys();
    if (oldest !== undefined) states.delete(oldest);
  };
  return {
    peek: (name) => states.get(name),
    async find(key) {
      const name = bootName(key);
      const known = states.get(name);
      if (known !== undefined) return known;
      const state = await load(db, key);
      if (state !== null) put(name, state);
      return state;
    },
    async widen(key, state, runs) {
      const needed = runs.filter((run) => isBelowFloor(state, run));
      const near = await Promise.all(needed.map((run) => rangesNear(db, key, run)));
      return { ...state, stored: near.flat().reduce<StoredNumbers>(addRange, state.stored) };
    },
    keep: (name, state) => put(name, trimmed(state)),
    forget: (name) => void states.delete(name),
  };
}
