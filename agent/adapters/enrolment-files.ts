// The files of enrolment on a real disk: written under a temporary name, synced and renamed, owned by the agent's
// user. It must never write through a foreign link, nor leave a half-written file under its name, nor a secret
// readable by others.
import {
  chownSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError, codeOf, messageOf } from '../../src/core/errors.ts';
import type { EnrolmentFiles } from '../enrolment/enrolment.ts';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

const fileMost = 1024 * 1024;

function fault(path: string, what: string, thrown: unknown): AppError {
  const isRefused = codeOf(thrown) === 'EACCES' || codeOf(thrown) === 'EPERM';
  return new AppError('storage', `Cannot ${what} ${path}: ${messageOf(thrown)}`, {
    cause: thrown,
    hint: isRefused
      ? 'Run the same command with sudo, or name files with --config and --secret-file that this user may write.'
      : 'Check that the folder is there, that the disk has free space and can be written.',
  });
}

/** The user of this name in /etc/passwd; null when there is none. */
export function findUser(name: string): Owner | null {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

/** The file itself where the path is a link of the installer's; the path when there is no file. */
function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function syncFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

interface Written {
  readonly text: string;
  readonly mode: number;
  readonly owner: Owner | null;
}

/** Whole or not at all, whatever happens in between. */
function replace(path: string, { text, mode, owner }: Written): void {
  const beside = join(dirname(path), `.${basename(path)}.new`);
  rmSync(beside, { force: true });
  // `wx`: made by us, or not at all.
  const file = openSync(beside, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    if (owner !== null) fchownSync(file, owner.uid, owner.gid);
    fchmodSync(file, mode);
    fsyncSync(file);
  } catch (thrown) {
    rmSync(beside, { force: true });
    throw thrown;
  } finally {
    closeSync(file);
  }
  renameSync(beside, path);
  syncFolder(path);
}

/**
 * Creates the missing folders, for the agent's user alone. One by one: the recursive form of Node 20 never ends
 * where the system reports that a folder's own parent is missing, as in /proc.
 */
function makeFolder(folder: string, owner: Owner | null): void {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  if (dirname(folder) !== folder) makeFolder(dirname(folder), owner);
  mkdirSync(folder, { mode: 0o700 });
  if (owner !== null) chownSync(folder, owner.uid, owner.gid);
}

/** @param owner of new files; null: the present user. */
export function createEnrolmentFiles(owner: Owner | null): EnrolmentFiles {
  return {
    read(path) {
      try {
        if (statSync(path).size > fileMost) throw new Error(`it is longer than ${fileMost} bytes`);
        return readFileSync(path, 'utf8');
      } catch (thrown) {
        if (codeOf(thrown) === 'ENOENT') return null;
        throw fault(path, 'read', thrown);
      }
    },
    prepare(path) {
      try {
        makeFolder(dirname(path), owner);
        const trial = `${targetOf(path)}.trial`;
        replace(trial, { text: '', mode: 0o600, owner });
        rmSync(trial, { force: true });
      } catch (thrown) {
        throw fault(path, 'write', thrown);
      }
    },
    write(path, text, kind) {
      try {
        const target = targetOf(path);
        const was = kind === 'kept' ? statSync(target, { throwIfNoEntry: false }) : undefined;
        const kept = was === undefined ? { mode: 0o600, owner } : { mode: was.mode & 0o777, owner: was };
        // Only root can give files away; another user keeps what it created.
        const isRoot = process.getuid?.() === 0;
        replace(target, { text, mode: kept.mode, owner: isRoot ? kept.owner : null });
      } catch (thrown) {
        throw fault(path, 'write', thrown);
      }
    },
    remove(path) {
      try {
        rmSync(path, { force: true });
        syncFolder(path);
      } catch (thrown) {
        throw fault(path, 'remove', thrown);
      }
    },
  };
}
