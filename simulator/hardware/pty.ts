// A pseudo terminal pair through Debian's socat: the agent opens `linkPath` as its serial port, this end is bytes. It
// must leave neither the link nor the child behind, and must not keep bytes for a reader that is not there.
import { type ChildProcess, spawn } from 'node:child_process';
import { lstatSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError, messageOf } from '../../src/core/errors.ts';

export interface PtyOptions {
  readonly linkPath: string;
  onBytes(bytes: Uint8Array): void;
  /** The child ended without `close` or `unplug`. */
  onLost(reason: string): void;
}

export interface Pty {
  /** Absolute. */
  readonly linkPath: string;
  /** False when no process has the pty open: the bytes are lost, as on a real line. */
  write(bytes: Uint8Array): boolean;
  isPlugged(): boolean;
  /** The device vanishes as a USB adapter does. */
  unplug(): Promise<void>;
  plug(): Promise<void>;
  close(): Promise<void>;
}

/** Ends a hang; socat takes milliseconds, on a busy machine seconds. */
const startTimeoutMs = 30_000;
const stopTimeoutMs = 1000;
const pollMs = 10;
const readerCheckMs = 500;
/** A pty buffers 4 KiB; more than that waiting in the pipe means that no process reads. */
const maxWaitingBytes = 4096;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

function pointsTo(link: string, target: string): boolean {
  try {
    return readlinkSync(link) === target;
  } catch {
    return false; // the process or the descriptor has just closed, or belongs to another user
  }
}

function holds(pid: string, device: string): boolean {
  try {
    const folder = join('/proc', pid, 'fd');
    return readdirSync(folder).some((fd) => pointsTo(join(folder, fd), device));
  } catch {
    return false;
  }
}

/**
 * True when a process other than `exceptPids` has the device open, or when that is unknown. A pty keeps bytes without
 * a reader, so the next reader would get old positions; a UART would have dropped them.
 */
function hasReader(linkPath: string, exceptPids: readonly number[]): boolean {
  try {
    const device = realpathSync(linkPath);
    const own = exceptPids.map(String);
    return readdirSync('/proc').some(
      (name) => /^\d+$/.test(name) && !own.includes(name) && holds(name, device),
    );
  } catch {
    return true;
  }
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

async function launch(linkPath: string): Promise<ChildProcess> {
  const child = spawn('socat', [`PTY,link=${linkPath},raw,echo=0`, 'STDIO'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // Ctrl-C at the terminal must reach this process only
  });
  let said = '';
  let failure: AppError | null = null;
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString('utf8')}`.slice(-500);
  });
  child.once('error', (error: NodeJS.ErrnoException) => {
    const hint = error.code === 'ENOENT' ? 'Install it: apt-get install socat' : messageOf(error);
    failure = new AppError('serial', 'socat, which makes the simulated serial ports, did not start', {
      hint,
    });
  });
  child.once('exit', (code) => {
    failure = new AppError('serial', `socat could not make ${linkPath} (exit ${code}): ${said.trim()}`);
  });
  for (let waitedMs = 0; waitedMs < startTimeoutMs; waitedMs += pollMs) {
    if (failure !== null) throw failure;
    if (exists(linkPath)) return child;
    await pause(pollMs);
  }
  child.kill('SIGKILL');
  throw new AppError('serial', `socat did not make ${linkPath} within ${startTimeoutMs} ms`);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}

/** Makes the pty at once. Rejects with AppError `serial` when socat is missing or the path is taken. */
export async function openPty(options: PtyOptions): Promise<Pty> {
  const linkPath = resolve(options.linkPath);
  let child: ChildProcess | null = null;
  let reader = { isThere: false, untilMs: 0 };
  const isRead = (): boolean => {
    if (performance.now() >= reader.untilMs) {
      const isThere = hasReader(linkPath, [process.pid, child?.pid ?? 0]);
      reader = { isThere, untilMs: performance.now() + readerCheckMs };
    }
    return reader.isThere;
  };
  const plug = async (): Promise<void> => {
    if (child !== null) return;
    if (exists(linkPath)) {
      const hint = 'Another bench may be running; if not, remove it';
      throw new AppError('serial', `${linkPath} exists already`, { hint });
    }
    const started = await launch(linkPath);
    child = started;
    started.stdin?.on('error', () => undefined); // the child has ended: `exit` reports it
    started.stdout?.on('data', (chunk: Buffer) => options.onBytes(new Uint8Array(chunk)));
    started.removeAllListeners('exit');
    started.once('exit', (code, signal) => {
      if (child !== started) return;
      child = null;
      options.onLost(`socat of ${linkPath} ended (${signal ?? code})`);
    });
  };
  const unplug = async (): Promise<void> => {
    const stopping = child;
    child = null;
    if (stopping === null) return;
    await stopChild(stopping);
    // A socat that had to be killed leaves its link behind, and nothing could be plugged in there again.
    rmSync(linkPath, { force: true });
  };
  await plug();
  return {
    linkPath,
    write(bytes) {
      const stdin = child?.stdin;
      if (!stdin?.writable || stdin.writableLength > maxWaitingBytes) return false;
      if (!isRead()) return false;
      stdin.write(bytes);
      return true;
    },
    isPlugged: () => child !== null,
    unplug,
    plug,
    close: unplug,
  };
}
