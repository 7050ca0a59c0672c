// Watches the files of an open SQLite database by inode: a file can be removed, moved, replaced or overwritten under a running
// process, and can have several names. Commits to a file without its name are lost with the process, so they must never be
// acknowledged.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError, codeOf, filesGoneCode, messageOf } from '../../core/errors.ts';

/** Files of a database in WAL mode, by suffix (SQLite, "Write-Ahead Logging", 2.3). */
const suffixes = ['', '-wal', '-shm'] as const;

interface Inode {
  readonly dev: number;
  readonly ino: number;
}

interface Fault {
  readonly suffix: (typeof suffixes)[number];
  readonly became: string;
}

/** The name that SQLite works with: links are resolved, also where the file does not exist yet. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(resolve(path))), basename(path));
    } catch {
      return resolve(path);
    }
  }
}

/** Descriptors of this process by the inode that they are open on. */
function descriptorOf({ dev, ino }: Inode): number | null {
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      const found = fstatSync(Number(name));
      if (found.dev === dev && found.ino === ino) return Number(name);
    } catch {
      // Closed meanwhile.
    }
  }
  return null;
}

const removed = 'removed or moved';

/** Remedy for a person, with commands that save the files still open in the process. */
function remedyOf(path: string, { became }: Fault, state: Saving): string {
  if (state.isSaved)
    return 'What the file held was written into the database. Restart this program; it stores nothing until then.';
  if (became === 'overwritten')
    return `Move ${path}, ${path}-wal and ${path}-shm away, restore the newest backup and start again.`;
  try {
    const copies = ['', '-wal'].flatMap((one) => {
      const inode = state.known.get(one);
      const fd = inode === undefined ? null : descriptorOf(inode);
      return fd === null ? [] : [`cp /proc/${process.pid}/fd/${fd} FOLDER/${basename(path)}${one}`];
    });
    return `Put the same files back under their names, and it goes on. If they were deleted, save them before this program ends: ${copies.join('; ')}.`;
  } catch {
    return 'Put the same files back under their names, and it goes on.';
  }
}

interface Saving {
  readonly known: ReadonlyMap<string, Inode>;
  isSaved: boolean;
}

const headerBytes = 100;
/** Of a log, but for its last bit (SQLite, "WAL-mode File Format", 4). */
const walMagic = 0x377f0682;

/** The first bytes of an open file; fewer where it is shorter. */
function headOf(fd: number): Buffer {
  const head = Buffer.alloc(headerBytes);
  return head.subarray(0, readSync(fd, head, 0, headerBytes, 0));
}

/** Write version of a database header, 2 with a write-ahead log (SQLite, "Database File Format", 1.3.3); null: no header. */
const formatOf = (head: Buffer): number | null =>
  head.length === headerBytes && head.toString('latin1', 0, 15) === 'SQLite format 3'
    ? (head[18] ?? null)
    : null;

/**
 * Pages and change counter of a database with a log (1.3.7 and 1.3.8); null for any other content. Neither goes back while one
 * database stands there, as it is never vacuumed meanwhile: a copy of an earlier moment is shorter.
 */
const growthOf = (head: Buffer): readonly number[] | null =>
  formatOf(head) === 2 ? [head.readUInt32BE(28), head.readUInt32BE(24)] : null;

/**
 * Refuses a database that was put beside the log of another one, before SQLite reads both as one.
 * @param descriptor of the file; null: it is opened here, so no connection to it may be open in this process.
 * @throws AppError `storage`.
 */
export function needOwnLog(path: string, descriptor: number | null): void {
  const real = realPathOf(path);
  const log = `${real}-wal`;
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0 || !existsSync(real)) return;
  const file = descriptor ?? openSync(real, 'r');
  const format = formatOf(headOf(file));
  if (descriptor === null) closeSync(file);
  if (format !== 1) return;
  throw new AppError(
    'storage',
    `${log} is the log of another database than ${real}, which was put there as a file`,
    {
      hint: `Nothing was changed. Move both away, with ${real}-shm, and put a backup in their place: fleetward-broker restore FILE.`,
    },
  );
}

export interface FileWatch {
  /** @throws Error of the code `FILES_GONE` unless each file that was opened is still the one at its path. */
  check(): void;
  /** True when the log was lost, its contents are in the database, and a new connection can continue. */
  isSaved(): boolean;
}

/**
 * Watches the files of a database that was just opened.
 * @param descriptor of the database file, open until the process ends; its content is then watched too.
 * @param saveLog copies the log, of which only the name is gone, into the database; true when all of it is there.
 */
export function watchFiles(path: string, descriptor: number | null, saveLog: () => boolean): FileWatch {
  const real = realPathOf(path);
  const known = new Map<string, Inode>();
  const saving: Saving = { known, isSaved: false };
  let grown: readonly number[] = [0, 0];
  const changeAt = (suffix: Fault['suffix']): Fault | null => {
    try {
      // The name as it was given, so that a link that leads elsewhere now shows.
      const now = statSync(suffix === '' ? path : real + suffix, { throwIfNoEntry: false });
      const opened = known.get(suffix);
      if (opened === undefined) {
        if (now !== undefined) known.set(suffix, { dev: now.dev, ino: now.ino });
        return null;
      }
      if (now === undefined) return { suffix, became: removed };
      if (now.dev === opened.dev && now.ino === opened.ino) return null;
      return { suffix, became: 'replaced by another file' };
    } catch (thrown) {
      return { suffix, became: `not reachable (${messageOf(thrown)})` };
    }
  };
  const overwritten = (): Fault | null => {
    if (descriptor !== null) {
      const found = growthOf(headOf(descriptor));
      if (found === null || found.some((value, at) => value < (grown[at] ?? 0)))
        return { suffix: '', became: 'overwritten' };
      grown = found;
    }
    const log = known.has('-wal') ? openSync(`${real}-wal`, 'r') : null;
    if (log === null) return null;
    try {
      const head = headOf(log);
      const isLog = head.length === 0 || (head.length >= 4 && head.readUInt32BE(0) >>> 1 === walMagic >>> 1);
      return isLog ? null : { suffix: '-wal', became: 'overwritten' };
    } finally {
      closeSync(log);
    }
  };
  const faultNow = (): Fault | null => {
    for (const suffix of suffixes) {
      const fault = changeAt(suffix);
      if (fault !== null) return fault;
    }
    return overwritten();
  };
  faultNow();
  return {
    check() {
      // Looked at twice: another process may just write the page of the header.
      const fault = faultNow() && faultNow();
      if (fault === null) return;
      // The lost log must not be mixed with a log or index that another process has begun.
      const isLogLost =
        fault.became === removed &&
        (fault.suffix === '-wal' || (fault.suffix === '-shm' && overwritten() === null));
      saving.isSaved = isLogLost && (saving.isSaved || saveLog());
      throw Object.assign(
        new Error(`${basename(real)}${fault.suffix} was ${fault.became} while it was open`),
        {
          code: filesGoneCode,
          hint: remedyOf(real, fault, saving),
        },
      );
    },
    isSaved: () => saving.isSaved,
  };
}

/** Paths that something is mounted at (proc_pid_mountinfo(5)); none where the kernel does not list them. */
export function mountPoints(): readonly string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) =>
        (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_all, octal: string) =>
          String.fromCharCode(Number.parseInt(octal, 8)),
        ),
      );
  } catch {
    return [];
  }
}

/**
 * Refuses a file with several names: its log depends on the name, so under another name its newest commits are missing, and two
 * programs could write at once.
 * @throws AppError `config`.
 */
export function needOneName(real: string): void {
  const names = statSync(real, { throwIfNoEntry: false })?.nlink ?? 1;
  if (names > 1) {
    throw new AppError(
      'config',
      `${real} has ${names} names (hard links), and its log belongs to one of them`,
      {
        hint: `List them with: find ${dirname(real)} -xdev -samefile ${real}. Remove all but the one that the service used last.`,
      },
    );
  }
  if (mountPoints().includes(real)) {
    throw new AppError(
      'config',
      `${real} is mounted as a single file, and its log (-wal) would stay outside of that mount`,
      {
        hint: 'Mount the folder of the database, not the file.',
      },
    );
  }
}

/** Ends a hang: flock(1) does not wait. */
const flockMs = 5000;

/**
 * Locks the file itself, by whatever name others reach it: flock(2), which holds until this process ends or closes the descriptor.
 * SQLite's own locks are of another kind (fcntl) and see nothing of it. Node has no call for it, so flock(1) sets it on the shared
 * descriptor. Without that program, or on a file system that knows no such lock, the lock by name is all there is: a vehicle must start.
 * @returns the descriptor, to be closed after every connection: closing it ends SQLite's locks of this process; null: no such file.
 * @throws AppError `config` when another process holds it.
 */
export function lockInode(real: string, busy: () => AppError): number | null {
  let descriptor: number;
  try {
    descriptor = openSync(real, 'r');
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return null;
    throw new AppError('storage', `${real}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'Check the rights on the file.',
    });
  }
  if (process.platform !== 'linux') return descriptor;
  const { status } = spawnSync('flock', ['-x', '-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
    timeout: flockMs,
  });
  if (status !== 1) return descriptor;
  closeSync(descriptor);
  throw busy();
}

/**
 * True when a read-only connection may open the file itself: it has no log, or its service runs. Otherwise copy it first, as
 * SQLite would replay the log and leave files.
 */
export function isReadInPlace(path: string): boolean {
  const real = realPathOf(path);
  const file = openSync(real, 'r');
  const format = formatOf(headOf(file));
  closeSync(file);
  if (format !== 2) return true;
  try {
    const descriptor = lockInode(real, () => new AppError('config', 'in use'));
    if (descriptor !== null) closeSync(descriptor);
    return false;
  } catch {
    return true;
  }
}

/** True when the descriptor is still the file at that path. */
export function isOpenOn(descriptor: number, real: string): boolean {
  const [opened, now] = [fstatSync(descriptor), statSync(real, { throwIfNoEntry: false })];
  return now === undefined || (opened.dev === now.dev && opened.ino === now.ino);
}
