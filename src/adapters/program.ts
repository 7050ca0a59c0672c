// Shared by the three command lines: error output with an exit code of sysexits.h, and stopping on a signal. Used by
// the composition roots only.
import { isatty } from 'node:tty';
import { AppError, errorKinds, messageOf } from '../core/errors.ts';
import { keepServing, untilWritten, watchOutput } from './output.ts';

/** A stop that takes longer is no longer orderly; systemd does not wait longer either. */
const stopMostMs = 5000;

/** Ends the process after 5 s even if it hangs, with its exit code or as unavailable. */
export function endSoon(): void {
  const { exitCode = errorKinds.unavailable.exitCode } = process;
  setTimeout(() => process.exit(exitCode), stopMostMs).unref();
}

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP. From then on the process ends at a second signal (exit 130), or
 * after 5 s (exit 75), even if it hangs.
 * @param onHangUp is called on SIGHUP instead, unless stdout is a terminal: closing that sends one too, and Node takes back what
 * `nohup` has set.
 */
export function untilStopped(onHangUp?: () => void): Promise<void> {
  keepServing();
  // A terminal that is closed is none any more.
  const isOnTerminal = isatty(1);
  return new Promise((resolve) => {
    let isAsked = false;
    const stop = (): void => {
      if (isAsked) process.exit(130);
      isAsked = true;
      endSoon();
      resolve();
    };
    const hangUp = (): void => {
      if (onHangUp === undefined || isOnTerminal) stop();
      else if (!isAsked) onHangUp();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
    process.on('SIGHUP', hangUp);
  });
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP, and ends nothing by itself: for work that must come to its own end. */
export function untilAsked(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
}

/** Runs a program to its end and ends the process, pending timers included. */
export async function runProgram(name: string, run: () => Promise<unknown>): Promise<never> {
  // New files hold movements of persons and keys: they are readable by the program's own user alone.
  process.umask(0o077);
  watchOutput(name);
  try {
    await run();
    await untilWritten();
    process.exit();
  } catch (thrown) {
    const error = thrown instanceof AppError ? thrown : new AppError('internal', messageOf(thrown));
    const hint = error.hint === undefined ? '' : `  ${error.hint}\n`;
    const stack = error.code === 'internal' && thrown instanceof Error ? `${thrown.stack}\n` : '';
    process.stderr.write(`${name}: ${error.message}\n${hint}${stack}`);
    await untilWritten();
    process.exit(errorKinds[error.code].exitCode);
  }
}
