// Power cuts by replay: from the calls that a process made, every disk that a cut could have left behind. What was synced
// is there; of what was not, each write may be there, missing, or torn at its 512-byte sectors; names change in order but
// are certain only once the folder was synced. Harsher than any journalled file system, gentler than a lying disk.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskOp } from './disk-log.ts';

const sectorBytes = 512;

/** A number in [0, 1). */
export type Luck = () => number;

type DataOp = Extract<DiskOp, { kind: 'write' | 'truncate' }>;

interface Inode {
  durable: Buffer;
  size: number;
  pending: DataOp[];
}

type NameOp =
  | { readonly kind: 'link'; readonly name: string; readonly inode: Inode }
  | { readonly kind: 'unlink'; readonly name: string }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string };

function applyNames(names: Map<string, Inode>, op: NameOp): void {
  if (op.kind === 'link') names.set(op.name, op.inode);
  if (op.kind === 'unlink') names.delete(op.name);
  if (op.kind !== 'rename') return;
  const inode = names.get(op.name);
  names.delete(op.name);
  if (inode !== undefined) names.set(op.to, inode);
}

interface Content {
  data: Buffer;
  size: number;
}

function grow(content: Content, size: number): void {
  if (size > content.data.length) {
    const larger = Buffer.alloc(Math.max(size, content.data.length * 2));
    content.data.copy(larger, 0, 0, content.size);
    content.data = larger;
  }
  if (size > content.size) content.data.fill(0, content.size, size);
  content.size = Math.max(content.size, size);
}

function applyData(content: Content, op: DataOp): void {
  if (op.kind === 'truncate') {
    if (op.size > content.size) grow(content, op.size);
    content.size = op.size;
    return;
  }
  grow(content, op.at + op.bytes.length);
  content.data.set(op.bytes, op.at);
}

/** Some of a write's sectors; a sector that it fills in part changes in that part only. */
function applyTorn(content: Content, op: DataOp, luck: Luck): void {
  if (op.kind === 'truncate') return;
  const end = op.at + op.bytes.length;
  for (let from = op.at; from < end; ) {
    const to = Math.min(end, (Math.floor(from / sectorBytes) + 1) * sectorBytes);
    if (luck() < 0.5)
      applyData(content, { ...op, at: from, bytes: op.bytes.subarray(from - op.at, to - op.at) });
    from = to;
  }
}

export type Fate = 'none' | 'all' | 'some' | 'torn' | 'last torn';
export const fates: readonly Fate[] = ['none', 'all', 'some', 'torn', 'last torn'];

function contentAfter(inode: Inode, fate: Fate, luck: Luck): Buffer {
  const content: Content = { data: Buffer.from(inode.durable.subarray(0, inode.size)), size: inode.size };
  for (const [index, op] of inode.pending.entries()) {
    const isLast = index === inode.pending.length - 1;
    if (fate === 'all' || (fate === 'last torn' && !isLast)) applyData(content, op);
    else if (fate === 'last torn') applyTorn(content, op, luck);
    else if (fate === 'some' && luck() < 0.5) applyData(content, op);
    else if (fate === 'torn') {
      const share = luck();
      if (share < 0.3) applyData(content, op);
      else if (share < 0.8) applyTorn(content, op, luck);
    }
  }
  return content.data.subarray(0, content.size);
}

export interface ReplayedDisk {
  take(op: DiskOp): void;
  /** Bytes and names that a cut now could lose. */
  unsynced(): number;
  /** Writes one possible disk into an empty folder; gives the names that it wrote. */
  cut(folder: string, fate: Fate, luck: Luck): readonly string[];
}

/** @param present what is in the folder, durable, before the first call. */
export function createReplayedDisk(present: ReadonlyMap<string, Uint8Array>): ReplayedDisk {
  const names = new Map<string, Inode>();
  for (const [name, bytes] of present)
    names.set(name, { durable: Buffer.from(bytes), size: bytes.length, pending: [] });
  let durableNames = new Map(names);
  let pendingNames: NameOp[] = [];
  const rename = (op: NameOp): void => {
    applyNames(names, op);
    pendingNames.push(op);
  };
  const sync = (name: string): void => {
    if (name === '') {
      durableNames = new Map(names);
      pendingNames = [];
      return;
    }
    const inode = names.get(name);
    if (inode === undefined) return;
    const content: Content = { data: inode.durable, size: inode.size };
    for (const op of inode.pending) applyData(content, op);
    inode.durable = content.data;
    inode.size = content.size;
    inode.pending = [];
  };
  return {
    take(op) {
      switch (op.kind) {
        case 'create':
          return rename({
            kind: 'link',
            name: op.name,
            inode: { durable: Buffer.alloc(0), size: 0, pending: [] },
          });
        case 'unlink':
          return rename({ kind: 'unlink', name: op.name });
        case 'rename':
          return rename(op);
        case 'sync':
          return sync(op.name);
        case 'write':
        case 'truncate':
          names.get(op.name)?.pending.push(op);
      }
    },
    unsynced: () =>
      pendingNames.length + [...names.values()].reduce((sum, inode) => sum + inode.pending.length, 0),
    cut(folder, fate, luck) {
      const left = new Map(durableNames);
      const kept =
        fate === 'all'
          ? pendingNames.length
          : fate === 'none'
            ? 0
            : Math.floor(luck() * (pendingNames.length + 1));
      for (const op of pendingNames.slice(0, kept)) applyNames(left, op);
      for (const [name, inode] of left) writeFileSync(join(folder, name), contentAfter(inode, fate, luck));
      return [...left.keys()];
    },
  };
}
