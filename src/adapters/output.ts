// The standard streams of a program. A log that cannot be written never ends or blocks the program: lines are dropped and
// counted, and the log reports it once it works again. A command whose output cannot be written ends as other tools do.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { errorKinds, messageOf } from '../core/errors.ts';

type OutputFd = 1 | 2;

const limits = {
  /** Bytes that wait for a slow reader; further lines are dropped. */
  waiting: 1024 * 1024,
  /** Between two tries, ms. */
  retryMs: 200,
  /** At its end a program waits this long for a slow reader, ms. */
  finishMs: 1000,
} as const;

/** As a shell reports a program that SIGPIPE has ended: 128 + 13. */
const pipeClosedExitCode = 141;

/** Streams that carry a log: their errors are counted as lost lines. */
const logged = new Set<OutputFd>();
let isServing = false;

/** From now on only a reader that closes the pipe ends the program, no full disk and no lost terminal. */
export function keepServing(): void {
  isServing = true;
}

const streamOf = (fd: OutputFd): NodeJS.WriteStream => (fd === 1 ? process.stdout : process.stderr);

/** Ends the program when its output cannot be written, quietly when the reader has closed the pipe. To be called once. */
export function watchOutput(name: string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (logged.has(1)) return;
    if (error.code === 'EPIPE') process.exit(pipeClosedExitCode);
    if (isServing) return;
    process.stderr.write(`${name}: the output cannot be written: ${error.message}\n`);
    process.exit(errorKinds.storage.exitCode);
  });
  ignoreErrors();
}

/** Nothing can be said of an error stream that fails, and it is no reason to end. */
export function ignoreErrors(): void {
  process.stderr.on('error', () => undefined);
}

/**
 * Resolves once the output has been written or has failed: a pipe takes 64 KiB at once, and an exit cuts the rest. A service waits for a
 * second at most, since it is started again after its end.
 */
export async function untilWritten(): Promise<void> {
  const written = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
  );
  const late = new Promise((resolve) => isServing && setTimeout(resolve, limits.finishMs));
  await Promise.race([Promise.all(written), late]);
}

/**
 * A descriptor whose writes fail with EAGAIN instead of waiting for a stalled reader. A terminal is opened again, since the shell
 * shares its mode. Node sets a pipe or socket (the journal's) so when it makes the stream. Files need nothing.
 */
function openNonBlocking(fd: OutputFd): number {
  try {
    const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants;
    if (isatty(fd)) return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_NONBLOCK | O_NOCTTY);
    const stat = fstatSync(fd);
    if (stat.isFIFO() || stat.isSocket()) streamOf(fd);
  } catch {
    // Of another user's terminal: its writes wait.
  }
  return fd;
}

interface Loss {
  readonly lines: number;
  /** ISO 8601. */
  readonly since: string;
  readonly reason: string;
}

export interface LogOutput {
  /** Whole lines. Never throws and never waits. */
  write(lines: string): void;
  /** Writes what is left; for the end of the process. */
  finish(): void;
}

const newline = 10;

function lineCount(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
}

/** The line that says what is missing before it. */
function noticeOf(loss: Loss): string {
  return `${JSON.stringify({ level: 40, time: new Date().toISOString(), ...loss, msg: 'log_lines_dropped' })}\n`;
}

/** Lines on their way to a descriptor. */
interface Run {
  /** Taken and not written; the first of them may have been begun. */
  waiting: Buffer[];
  waitingBytes: number;
  /** Of the notice that is the first of `waiting`; null: that is none. */
  announced: Loss | null;
  /** Lines that were dropped and not announced; further ones are dropped until the notice is on its way. */
  loss: Loss | null;
  /** The last line in the log is not whole. */
  isCut: boolean;
  timer: NodeJS.Timeout | null;
  /** One system call. @returns how many bytes it took. */
  write(bytes: Uint8Array): number;
}

function lose(run: Run, lines: number, reason: string): void {
  const since = new Date().toISOString();
  run.loss = { ...(run.loss ?? { since, reason }), lines: (run.loss?.lines ?? 0) + lines };
}

/** Drops what waits. A notice among it is made again. */
function dropWaiting(run: Run, reason: string): void {
  const { announced, loss, waiting } = run;
  const lost = (announced === null ? waiting : waiting.slice(1)).reduce(
    (sum, bytes) => sum + lineCount(bytes),
    announced === null ? 0 : (loss?.lines ?? 0),
  );
  run.loss = announced ?? loss;
  lose(run, lost, reason);
  run.announced = null;
  run.waiting = [];
  run.waitingBytes = 0;
}

function take(run: Run, bytes: Buffer): void {
  run.waiting.push(bytes);
  run.waitingBytes += bytes.length;
}

/** Writes what waits as far as the descriptor takes it. */
function drain(run: Run): void {
  for (let first = run.waiting[0]; first !== undefined; first = run.waiting[0]) {
    try {
      const count = run.write(first);
      run.isCut = first[count - 1] !== newline;
      run.waitingBytes -= count;
      if (count < first.length) run.waiting[0] = first.subarray(count);
      else {
        run.waiting.shift();
        run.announced = null;
      }
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === 'EAGAIN') return;
      dropWaiting(run, messageOf(thrown));
    }
  }
}

/** Retries: first waiting lines, then the report of dropped lines. */
function retry(run: Run): void {
  drain(run);
  const { loss } = run;
  if (run.waiting.length > 0 || loss === null) return;
  take(run, Buffer.from(`${run.isCut ? '\n' : ''}${noticeOf(loss)}`));
  run.announced = loss;
  run.loss = null;
  drain(run);
}

function arm(run: Run): void {
  if (run.timer !== null || (run.waiting.length === 0 && run.loss === null)) return;
  run.timer = setTimeout(() => {
    run.timer = null;
    retry(run);
    arm(run);
  }, limits.retryMs).unref();
}

/** @param write one system call. @param waitingMost bytes that wait for a slow reader. */
export function createLogOutput(write: Run['write'], waitingMost: number = limits.waiting): LogOutput {
  const run: Run = {
    waiting: [],
    waitingBytes: 0,
    announced: null,
    loss: null,
    isCut: false,
    timer: null,
    write,
  };
  return {
    write(lines) {
      const bytes = Buffer.from(lines);
      if (run.loss === null && run.waitingBytes + bytes.length <= waitingMost) {
        take(run, bytes);
        drain(run);
      } else lose(run, lineCount(bytes), 'EAGAIN: its reader stands still or is too slow');
      arm(run);
    },
    finish() {
      const pause = new Int32Array(new SharedArrayBuffer(4));
      const untilMs = performance.now() + limits.finishMs;
      for (retry(run); run.waiting.length > 0 && performance.now() < untilMs; retry(run))
        Atomics.wait(pause, 0, 0, 10);
    },
  };
}

/** The stream of a log. */
export function openLogOutput(fd: OutputFd): LogOutput {
  logged.add(fd);
  const target = openNonBlocking(fd);
  return createLogOutput((bytes) => writeSync(target, bytes));
}
