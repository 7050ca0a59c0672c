// The machine for the doctor: files and their owners, processes that have a device open, space, a forced write,
// clocks. It only reads, except for one probe file that is removed again; a fact that this user may not see is left
// out, never guessed.
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError, codeOf, messageOf } from '../../src/core/errors.ts';
import type { Holder, Machine, PathFacts, Person } from '../doctor/ports.ts';

const serviceUser = 'fleetward-agent';

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** The name to a number, in /etc/passwd or /etc/group; the number itself when there is none. */
function nameOf(file: '/etc/passwd' | '/etc/group', id: number): string {
  const line = linesOf(file).find((one) => one.split(':')[2] === String(id));
  return line?.split(':')[0] ?? String(id);
}

/** All groups of a user by /etc/passwd and /etc/group; null when there is no such user. */
function groupsOf(name: string): readonly string[] | null {
  const own = linesOf('/etc/passwd').find((line) => line.startsWith(`${name}:`));
  if (own === undefined) return null;
  const first = nameOf('/etc/group', Number(own.split(':')[3]));
  const others = linesOf('/etc/group').flatMap((line) => {
    const [group = '', , , members = ''] = line.split(':');
    return members.split(',').includes(name) ? [group] : [];
  });
  return [first, ...others];
}

function kindOf(facts: Stats): PathFacts['kind'] {
  if (facts.isCharacterDevice()) return 'device';
  if (facts.isDirectory()) return 'folder';
  return facts.isFile() ? 'file' : 'other';
}

function look(path: string): PathFacts | null {
  try {
    const facts = statSync(path);
    return {
      kind: kindOf(facts),
      mode: facts.mode & 0o7777,
      owner: nameOf('/etc/passwd', facts.uid),
      group: nameOf('/etc/group', facts.gid),
      realPath: realpathSync(path),
    };
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT' || codeOf(thrown) === 'ENOTDIR') return null;
    throw new AppError('forbidden', `${path} cannot be looked at: ${messageOf(thrown)}`, {
      hint: 'Run it with sudo.',
    });
  }
}

const processName = (pid: number): string => linesOf(`/proc/${pid}/comm`)[0] ?? '';

/** True when a descriptor of the process fits, as far as this user may see them. */
function hasDescriptor(pid: number, fits: (target: string, fd: string) => boolean): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((fd) => {
      try {
        return fits(readlinkSync(join(folder, fd)), fd);
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}

/**
 * True when a process holds the other end of a pseudo-terminal (proc_pid_fdinfo(5), `tty-index`): it is the device, and takes no
 * bytes from a reader.
 */
function isFarEnd(pid: number, realPath: string): boolean {
  const [, index] = /^\/dev\/pts\/(\d+)$/.exec(realPath) ?? [];
  return (
    index !== undefined &&
    hasDescriptor(
      pid,
      (target, fd) =>
        target.endsWith('/ptmx') &&
        linesOf(`/proc/${pid}/fdinfo/${fd}`).some((line) => /^tty-index:\s*(\d+)$/.exec(line)?.[1] === index),
    )
  );
}

const partsOf = (device: number): readonly [major: number, minor: number] => [
  (device >> 8) & 0xfff,
  (device & 0xff) | ((device >> 12) & 0xfff00),
];

const processes = (): readonly number[] =>
  readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));

/**
 * Locks on the device's file, which all users may see (proc_locks(5)): `1: FLOCK ADVISORY WRITE 708 00:13:16472 0
 * EOF`.
 */
function lockersOf(realPath: string): readonly number[] {
  const { dev, ino } = statSync(realPath);
  const [major, minor] = partsOf(dev);
  return linesOf('/proc/locks').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [, , , , pid = '', place = ''] = fields;
    const [highHex = '', lowHex = '', inode = ''] = place.split(':');
    const isHere =
      Number.parseInt(highHex, 16) === major &&
      Number.parseInt(lowHex, 16) === minor &&
      Number(inode) === ino;
    return isHere && Number(pid) > 0 ? [Number(pid)] : [];
  });
}

function holdersOf(realPath: string): readonly Holder[] {
  const lockers = lockersOf(realPath);
  const openers = processes().filter((pid) => hasDescriptor(pid, (target) => target === realPath));
  const pids = [...new Set([...openers, ...lockers])];
  return pids
    .filter((pid) => pid !== process.pid && !isFarEnd(pid, realPath))
    .map((pid) => ({ pid, name: processName(pid), hasLock: lockers.includes(pid) }));
}

/** By the database of udevd, one file for each device. */
function isProbedByModemManager(realPath: string): boolean {
  const [major, minor] = partsOf(statSync(realPath).rdev);
  const known = linesOf(`/run/udev/data/c${major}:${minor}`);
  const isKeptOff = known.some((line) => /^E:ID_MM_(PORT|DEVICE)_IGNORE=1$/.test(line));
  return (
    known.includes('E:ID_BUS=usb') &&
    !isKeptOff &&
    processes().some((pid) => processName(pid) === 'ModemManager')
  );
}

function agentUser(): Person {
  const uid = process.getuid?.() ?? 0;
  const service = uid === 0 ? groupsOf(serviceUser) : null;
  if (service !== null) return { name: serviceUser, groups: service, isRoot: false };
  const name = nameOf('/etc/passwd', uid);
  // The groups that this process has, which a new login may change.
  const groups = (process.getgroups?.() ?? []).map((id) => nameOf('/etc/group', id));
  return { name, groups, isRoot: uid === 0 };
}

function probeSync(folder: string): number {
  const path = join(folder, `.doctor-${process.pid}`);
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, Buffer.alloc(4096, 0x5a));
      const startMs = performance.now();
      fsyncSync(file);
      return performance.now() - startMs;
    } finally {
      closeSync(file);
      rmSync(path, { force: true });
    }
  } catch (thrown) {
    throw new AppError('storage', `${folder} cannot be written: ${messageOf(thrown)}`, {
      hint: 'Is the file system full or read-only, or do you need sudo?',
      cause: thrown,
    });
  }
}

function hardwareClockMs(): number | null {
  const seconds = Number(linesOf('/sys/class/rtc/rtc0/since_epoch')[0]);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}

function isTimeSynchronised(): boolean | null {
  // systemd-timesyncd(8): the first is there while it runs, the second once the clock was set.
  if (statSync('/run/systemd/timesync', { throwIfNoEntry: false }) === undefined) return null;
  return statSync('/run/systemd/timesync/synchronized', { throwIfNoEntry: false }) !== undefined;
}

export function createMachine(): Machine {
  return {
    look,
    holdersOf,
    isProbedByModemManager,
    agentUser,
    space(folder) {
      const { bavail, blocks, bsize } = statfsSync(folder);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    },
    probeSync,
    hardwareClockMs,
    isTimeSynchronised,
  };
}
