// The hash chain of the audit log: each entry's hash includes the previous one, so that a later change, removal, insertion
// or move is detected. Detail enters as its own hash, so that it can be erased without breaking the chain. The hash
// function is a parameter: SHA-256 as 64 hexadecimal digits.

/** What an entry says, and its place in the chain of its account. */
export interface ChainedEntry {
  readonly auditNo: number;
  readonly accountID: string;
  readonly atMs: number;
  readonly actor: string;
  readonly source: string;
  readonly action: string;
  readonly object: string;
  /** Null once it was erased. */
  readonly detail: string | null;
  readonly detailHash: string;
  /** 1, 2, 3 ... within the account. */
  readonly chainNo: number;
  readonly prevHash: string;
  readonly hash: string;
}

export type Hash = (text: string) => string;

/** Where a chain stands: its last entry. */
export interface ChainHead {
  readonly chainNo: number;
  readonly hash: string;
}

/** Before the first entry. */
export const emptyChain: ChainHead = { chainNo: 0, hash: '0'.repeat(64) };

type Header = Omit<ChainedEntry, 'detail' | 'prevHash' | 'hash'>;

/** The hash of an entry that stands after `prevHash`. */
function entryHash(hash: Hash, prevHash: string, entry: Header): string {
  const { auditNo, accountID, chainNo, atMs, actor, source, action, object, detailHash } = entry;
  // JSON separates the fields whatever is in them; the order here is the definition.
  const header = JSON.stringify([accountID, chainNo, auditNo, atMs, actor, source, action, object]);
  return hash(`${prevHash}${header}${detailHash}`);
}

/** Gives entries, in their order, their places after `head`. */
export function chainEntries(
  hash: Hash,
  head: ChainHead,
  entries: readonly Omit<Header, 'chainNo'>[],
): readonly {
  readonly auditNo: number;
  readonly chainNo: number;
  readonly prevHash: string;
  readonly hash: string;
}[] {
  let { chainNo, hash: prevHash } = head;
  return entries.map((entry) => {
    chainNo += 1;
    const link = {
      auditNo: entry.auditNo,
      chainNo,
      prevHash,
      hash: entryHash(hash, prevHash, { ...entry, chainNo }),
    };
    prevHash = link.hash;
    return link;
  });
}

/** What can be wrong at a place of a chain. */
export const chainFaults = [
  /** Two rows hold this place. */
  'doubled',
  /** The row of this place is missing; others come after it. */
  'missing',
  /** It does not follow from the row before it. */
  'unlinked',
  /** Its detail was changed. */
  'detail_changed',
  /** Another of its values was changed. */
  'changed',
  /** It is not the row of a head that was kept. */
  'replaced',
  /** The chain ends before a head that was kept. */
  'cut_off',
  /** The head that was kept is missing. */
  'head_missing',
] as const;
export type ChainFaultReason = (typeof chainFaults)[number];

/** The first thing that is wrong with a chain. `chainNo` is the place of the fault. */
export interface ChainFault {
  readonly accountID: string;
  readonly chainNo: number;
  /** The row where it shows; null when that is the missing one. */
  readonly auditNo: number | null;
  readonly reason: ChainFaultReason;
}

export interface ChainCheck {
  /** Takes the next entry of the chain in the order of places; null while everything holds. */
  check(entry: ChainedEntry): ChainFault | null;
  /** After the last entry. */
  finish(): ChainFault | null;
  head(): ChainHead;
  /** Entries whose detail was erased. */
  erased(): number;
}

function wrongIn(hash: Hash, head: ChainHead, entry: ChainedEntry): ChainFaultReason | null {
  if (entry.chainNo <= head.chainNo) return 'doubled';
  if (entry.chainNo !== head.chainNo + 1) return 'missing';
  if (entry.prevHash !== head.hash) return 'unlinked';
  if (entry.detail !== null && hash(entry.detail) !== entry.detailHash) return 'detail_changed';
  if (entryHash(hash, entry.prevHash, entry) !== entry.hash) return 'changed';
  return null;
}

/** What a check of a chain begins with. */
export interface ChainStart {
  readonly accountID: string;
  /** Heads of this chain that were kept: the chain must have passed through each. */
  readonly saved?: readonly ChainHead[];
  /** The entry that was checked last; absent: from the beginning. */
  readonly after?: ChainHead;
}

/** Checks one chain, or the rest of it. */
export function createChainCheck(
  hash: Hash,
  { accountID, saved = [], after = emptyChain }: ChainStart,
): ChainCheck {
  let head = after;
  let erased = 0;
  const fault = (chainNo: number, auditNo: number | null, reason: ChainFaultReason): ChainFault => ({
    accountID,
    chainNo,
    auditNo,
    reason,
  });
  return {
    check(entry) {
      const reason = wrongIn(hash, head, entry);
      if (reason !== null) {
        const isMissing = entry.chainNo > head.chainNo + 1;
        return fault(isMissing ? head.chainNo + 1 : entry.chainNo, isMissing ? null : entry.auditNo, reason);
      }
      head = { chainNo: entry.chainNo, hash: entry.hash };
      if (entry.detail === null) erased += 1;
      const other = saved.find((one) => one.chainNo === head.chainNo && one.hash !== head.hash);
      return other === undefined ? null : fault(head.chainNo, entry.auditNo, 'replaced');
    },
    finish() {
      const beyond = saved.find((one) => one.chainNo > head.chainNo);
      return beyond === undefined ? null : fault(head.chainNo + 1, null, 'cut_off');
    },
    head: () => head,
    erased: () => erased,
  };
}
