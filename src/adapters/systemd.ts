// Supervisor over the program `systemd-notify`, since Node has no datagram sockets of the Unix family. The unit needs
// `NotifyAccess=all`, because the notice comes from a child process (sd_notify(3)). Does nothing where no service
// manager listens; never runs more than one process at a time, and never lets one hang.
import { spawn } from 'node:child_process';
import type { Log, Supervisor } from '../ports.ts';

const programTimeoutMs = 5000;
const statusMostCharacters = 200;

export interface SupervisorOptions {
  readonly log: Log;
  /** The environment of the program; without NOTIFY_SOCKET nothing is sent. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Another program than `systemd-notify`, for tests. */
  readonly program?: string;
}

/** One line, short: the notice protocol separates assignments by newlines. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, statusMostCharacters);
}

/**
 * Notices to the service manager. Those of one loop turn go together, those during a send are merged into the next, and a status
 * is sent only after a change.
 */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { log, environment } = options;
  const waiting = new Map<string, string>();
  let isRunning = false;
  let hasWarned = false;
  let lastStatus: string | null = null;
  const warnOnce = (reason: string): void => {
    if (!hasWarned) log.warn('systemd_notify_failed', { reason });
    hasWarned = true;
  };
  const sendNext = (): void => {
    if (isRunning || waiting.size === 0) return;
    const assignments = [...waiting].map(([name, value]) => `${name}=${value}`);
    waiting.clear();
    isRunning = true;
    let hasEnded = false;
    const end = (fault: string | null): void => {
      if (hasEnded) return;
      hasEnded = true;
      isRunning = false;
      if (fault === null) hasWarned = false;
      else {
        lastStatus = null;
        warnOnce(fault);
      }
      sendNext();
    };
    const child = spawn(options.program ?? 'systemd-notify', assignments, {
      stdio: 'ignore',
      env: { ...environment },
      timeout: programTimeoutMs,
      killSignal: 'SIGKILL',
    });
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => end(code === 0 ? null : `ended with ${code ?? signal}`));
  };
  const notify = (name: string, value: string): void => {
    if ((environment['NOTIFY_SOCKET'] ?? '') === '') return;
    if (waiting.size === 0) queueMicrotask(sendNext);
    waiting.set(name, value);
  };
  return {
    ready: () => notify('READY', '1'),
    alive: () => notify('WATCHDOG', '1'),
    status(text) {
      if (text === lastStatus) return;
      lastStatus = text;
      notify('STATUS', oneLine(text));
    },
    stopping: () => notify('STOPPING', '1'),
  };
}
