// Counters of removed events per boot, stored apart from the rows: number of dropped or delivered events, and the sum of their numbers. The numbers
// of a boot are dense, so count and sum of the remaining rows follow, and rows lost with a damaged page are detected. A loss of zero is reported only
// when it is certain.

export interface Account {
  /** Highest number known to have been stored. */
  readonly lastSeq: number;
  /** Count of numbers up to it that are no longer in the queue, or never were. */
  readonly gone: number;
  /** Sum of those numbers. Exact for boots of up to 100 million events. */
  readonly goneSum: number;
}

/** Rows of one boot, as a count and the sum of their numbers. */
export interface Tally {
  readonly count: number;
  readonly sum: number;
}

export const emptyTally: Tally = { count: 0, sum: 0 };

/** 1 + 2 + ... + n. */
const triangle = (n: number): number => (n * (n + 1)) / 2;

/** Account of a boot whose numbers up to `before` are not in this file. */
export function openAccount(before = 0): Account {
  return { lastSeq: before, gone: before, goneSum: triangle(before) };
}

export function addTally(tally: Tally | undefined, seq: number, sign: 1 | -1 = 1): Tally {
  return { count: (tally?.count ?? 0) + sign, sum: (tally?.sum ?? 0) + sign * seq };
}

/** Records that all numbers up to `lastSeq` were stored. */
export function appended(account: Account, lastSeq: number): Account {
  return lastSeq > account.lastSeq ? { ...account, lastSeq } : account;
}

/** Records that rows were removed: delivered or dropped. */
export function removed(account: Account, { count, sum }: Tally): Account {
  return { ...account, gone: account.gone + count, goneSum: account.goneSum + sum };
}

/** Records a row recovered from a damaged file. */
export function restored(account: Account, seq: number): Account {
  const { lastSeq, gone, goneSum } = account;
  const top = Math.max(lastSeq, seq);
  return {
    lastSeq: top,
    gone: gone + (top - lastSeq) - 1,
    goneSum: goneSum + triangle(top) - triangle(lastSeq) - seq,
  };
}

/** Tally that the queue must have. */
export function liveOf({ lastSeq, gone, goneSum }: Account): Tally {
  return { count: lastSeq - gone, sum: triangle(lastSeq) - goneSum };
}

/**
 * Lowest number that can be in the queue: if all others were the highest possible, this one is the rest of the sum. Everything below was certainly
 * delivered or dropped. One above `lastSeq` if the queue is empty.
 */
export function floorOf(account: Account): number {
  const { lastSeq } = account;
  const { count, sum } = liveOf(account);
  if (count === 0) return lastSeq + 1;
  const others = count - 1;
  const floor = sum - (others * lastSeq - (others * (others - 1)) / 2);
  return floor >= 1 && floor <= lastSeq ? floor : 1;
}

const chunkSeqs = 32_768;

/** A set of sequence numbers, one bit each. */
export interface SeqSet {
  /** False: it was already in the set. */
  add(seq: number): boolean;
  has(seq: number): boolean;
  readonly size: number;
  readonly last: number;
}

export function createSeqSet(): SeqSet {
  const chunks = new Map<number, Uint8Array>();
  let size = 0;
  let last = 0;
  return {
    add(seq) {
      const index = Math.floor(seq / chunkSeqs);
      const chunk = chunks.get(index) ?? new Uint8Array(chunkSeqs / 8);
      chunks.set(index, chunk);
      const at = (seq % chunkSeqs) >>> 3;
      const bit = 1 << (seq & 7);
      const byte = chunk[at] ?? 0;
      if ((byte & bit) !== 0) return false;
      chunk[at] = byte | bit;
      size += 1;
      last = Math.max(last, seq);
      return true;
    },
    has(seq) {
      const byte = chunks.get(Math.floor(seq / chunkSeqs))?.[(seq % chunkSeqs) >>> 3] ?? 0;
      return (byte & (1 << (seq & 7))) !== 0;
    },
    get size() {
      return size;
    },
    get last() {
      return last;
    },
  };
}

export interface Loss {
  readonly least: number;
  readonly most: number;
}

/**
 * Number of events of a boot that are lost after a salvage. The two bounds are equal if no event of the boot was delivered yet, or if all were
 * delivered in order.
 * @param found distinct numbers that were found, none below the account's floor.
 * @param tail numbers after the account's last one that may have been stored without being counted.
 */
export function lossOf(account: Account, found: Pick<SeqSet, 'size' | 'last'>, tail = 0): Loss {
  const lastSeq = Math.max(account.lastSeq, found.last);
  const unknown = Math.max(0, account.lastSeq + tail - lastSeq);
  const expected = liveOf(account).count + lastSeq - account.lastSeq;
  const possible = lastSeq - floorOf(account) + 1;
  const most = Math.max(0, Math.min(expected, possible - found.size));
  return { least: Math.min(most, Math.max(0, expected - found.size)), most: most + unknown };
}
