// Sets a damaged outbox aside, whole and under one name, to be salvaged later. The intent is written down first, so
// that after a power cut at any moment the next start completes the replacement. Never deletes a damaged file that is
// not salvaged yet, and never mistakes an old one for the file that was in use.
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import type { Clock, Entropy } from '../../../src/ports.ts';
import { isThere } from './outbox-reading.ts';
import { freeReserve } from './outbox-reserve.ts';

/** Sets that are kept when they are salvaged; each is as large as the outbox was. */
const evidenceMost = 2;

/** Files of SQLite beside a database file. */
const suffixes = ['', '-wal', '-shm'] as const;

/** Why a file is not trusted. */
export interface FileFault {
  readonly reason: string;
  /** Commits may be missing: what the file says of the agent's state may then be older than what the agent did. */
  readonly lacksCommits: boolean;
}

/** A fault of what is there: nothing is missing behind it. */
export const damagedFault = (reason: string): FileFault => ({ reason, lacksCommits: false });

/** A fault by which the newest commits may be gone. */
export const shortFault = (reason: string): FileFault => ({ reason, lacksCommits: true });

/** A replacement that was begun: under which name the damaged file goes aside, and why. */
export interface Intent extends FileFault {
  /** Name of the set-aside file, without its folder. */
  readonly evidence: string;
}

const intentPath = (path: string): string => `${path}.replacing`;

/** Names of what was set aside beside `path`, without the folder, oldest first; of some only the log is left. */
export function damagedFilesOf(path: string): readonly string[] {
  const start = `${basename(path)}.damaged-`;
  const names = readdirSync(dirname(path)).filter((name) => name.startsWith(start));
  return [...new Set(names.map((name) => name.replace(/-(wal|shm)$/, '')))].sort();
}

/** Path of a set-aside file of `path`. */
export function damagedPath(path: string, evidence: string): string {
  return join(dirname(path), evidence);
}

/** Makes changes of names beside `path` durable. */
export function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * The replacement that a power cut or a kill interrupted; null when there was none, or it had not changed anything yet. Throws
 * what the disk answers when it does not give the note: without it the set-aside file would be forgotten.
 */
export function readIntent(path: string): Intent | null {
  if (!isThere(intentPath(path))) return null;
  const text = readFileSync(intentPath(path), 'utf8');
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'evidence' in value && 'reason' in value)
      return {
        evidence: basename(String(value.evidence)),
        reason: String(value.reason),
        lacksCommits: !('lacksCommits' in value && value.lacksCommits === false),
      };
  } catch {
    // Cut short: it is synced before the first name changes, so none has changed.
  }
  return null;
}

/** Durable when it returns. */
export function writeIntent(path: string, intent: Intent): void {
  const file = openSync(intentPath(path), 'w', 0o600);
  try {
    writeSync(file, JSON.stringify(intent));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFolder(path);
}

/**
 * To be called once the new file holds all that the replacement is to leave, and before anything is promised in it: durable,
 * or a later start would take that file for one that never came into use.
 */
export function endIntent(path: string): void {
  rmSync(intentPath(path), { force: true });
  syncFolder(path);
}

/** Whether the damaged file has its new name already, and the file at `path` is a new one. */
export function isSetAside(path: string, intent: Intent): boolean {
  return isThere(path) && damagedFilesOf(path).includes(intent.evidence);
}

/**
 * Moves database, log and index aside together, durably, and returns the name. Continues an interrupted move.
 * @throws AppError `storage` when the folder does not allow it.
 */
export function setAside(
  file: { readonly path: string; readonly clock: Clock; readonly entropy: Entropy },
  { reason, lacksCommits }: FileFault,
): string {
  const { path } = file;
  const stamp = new Date(file.clock.utcMs()).toISOString().replace(/[-:]|\.\d+/g, '');
  const fresh = `${basename(path)}.damaged-${stamp}-${hexId(file.entropy.bytes(4))}`;
  const begun = readIntent(path);
  const intent = begun ?? { evidence: fresh, reason, lacksCommits };
  try {
    if (begun !== null && isSetAside(path, begun)) {
      // A new file that was never in use: it holds no promise, and must not take the damaged file's name.
      for (const suffix of suffixes) rmSync(path + suffix, { force: true });
    }
    if (begun === null) {
      try {
        writeIntent(path, intent);
      } catch (thrown) {
        // A full disk: the space that was set aside is for days like this.
        if (!freeReserve(path)) throw thrown;
        writeIntent(path, intent);
      }
    }
    for (const suffix of suffixes) {
      if (isThere(path + suffix)) renameSync(path + suffix, damagedPath(path, intent.evidence) + suffix);
    }
    syncFolder(path);
  } catch (thrown) {
    throw new AppError('storage', `${path}: a damaged database cannot be set aside: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'Check the rights on the folder, that it has free space, and that the file system is not read-only.',
    });
  }
  return intent.evidence;
}

/** Deletes old damaged files; those still `needed` and the newest sets stay. */
export function pruneDamaged(path: string, needed: readonly string[]): void {
  const spare = damagedFilesOf(path).slice(0, -evidenceMost);
  for (const name of spare.filter((one) => !needed.includes(one))) {
    for (const suffix of [...suffixes].toReversed())
      rmSync(damagedPath(path, name) + suffix, { force: true });
  }
}
