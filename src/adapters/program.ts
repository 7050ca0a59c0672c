// What the three command lines share: ending in words with an exit code of sysexits.h, and stopping on a signal. The
// composition roots use it and nothing else does.
import { AppError, errorKinds, messageOf } from '../core/errors.ts';

/** A stop that takes longer is no longer orderly; systemd and people do not wait longer either. */
const stopMostMs = 5000;

/** Ends the process after 5 s whatever still hangs, with its exit code or as one that was unavailable. */
export function endSoon(): void {
  const { exitCode = errorKinds.unavailable.exitCode } = process;
  setTimeout(() => process.exit(exitCode), stopMostMs).unref();
}

/**
 * Resolves at the first SIGINT, SIGTERM or SIGHUP. From then on the process ends at a second signal (exit 130), or
 * after 5 s (exit 75), whatever still hangs.
 * @param onReload is what SIGHUP does instead, unless a terminal is at the other end: closing that sends one too.
 */
export function untilStopped(onReload?: () => void): Promise<void> {
  return new Promise((resolve) => {
    let isAsked = false;
    const stop = (): void => {
      if (isAsked) process.exit(130);
      isAsked = true;
      endSoon();
      resolve();
    };
    const hangUp = (): void => {
      if (onReload === undefined || process.stdout.isTTY) stop();
      else if (!isAsked) onReload();
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

/** Runs a program to its end and ends the process: timers that nobody waits for do not keep it. */
export async function runProgram(name: string, run: () => Promise<unknown>): Promise<never> {
  // What is created holds people's movements and keys: it is for the program's own user alone.
  process.umask(0o077);
  try {
    await run();
    process.exit();
  } catch (thrown) {
    const error = thrown instanceof AppError ? thrown : new AppError('internal', messageOf(thrown));
    const hint = error.hint === undefined ? '' : `  ${error.hint}\n`;
    const stack = error.code === 'internal' && thrown instanceof Error ? `${thrown.stack}\n` : '';
    process.stderr.write(`${name}: ${error.message}\n${hint}${stack}`);
    process.exit(errorKinds[error.code].exitCode);
  }
}
