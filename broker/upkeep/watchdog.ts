// Feeds the service manager's watchdog while the broker really works: no write hangs, and every listener still takes a
// connection. A database that answers with an error is no reason to end: nothing is acknowledged then, and it recovers alone.
import type { Cancel, Clock, Log, Supervisor } from '../../src/ports.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';

export interface WatchdogOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly supervisor: Supervisor;
  /** Watchdog time of the service manager, in ms; null: it does not watch. */
  readonly watchdogMs: number | null;
  /** Age of the oldest write that neither succeeded nor failed, in ms. */
  readonly hangingMs: () => number;
  /** Listeners by name, each asked within `limitMs`. */
  readonly listeners: () => readonly ListenerProbe[];
  /** One line of text that `systemctl status` shows. */
  readonly status: () => string;
}

export interface ListenerProbe {
  readonly name: string;
  isAlive(limitMs: number): Promise<boolean>;
}

/** Period of the status line without a watchdog, in ms. */
const unwatchedMs = 30_000;
const checkMostMs = 15_000;
const hangMostMs = 30_000;
const probeMostMs = 5000;

/** The fault as text; null: none. */
async function faultOf({ hangingMs, listeners }: WatchdogOptions, limitMs: number): Promise<string | null> {
  const hanging = hangingMs();
  if (hanging >= hangMostMs) return `a write hangs for ${Math.round(hanging / 1000)} s`;
  const asked = listeners().map(async (one) => ({ name: one.name, isAlive: await one.isAlive(limitMs) }));
  const dead = (await Promise.all(asked)).find(({ isAlive }) => !isAlive);
  return dead === undefined ? null : `the listener ${dead.name} takes no connection`;
}

/** Starts to feed, three times within what the service manager waits, until stopped. */
export function startWatchdog(options: WatchdogOptions): Cancel {
  const { clock, log, supervisor, watchdogMs, status } = options;
  const periodMs = watchdogMs === null ? unwatchedMs : Math.min(checkMostMs, watchdogMs / 3);
  const probeMs = Math.min(probeMostMs, periodMs);
  const run = async (): Promise<number> => {
    const fault = await faultOf(options, probeMs);
    if (fault === null) supervisor.alive();
    else log.error('watchdog_not_notified', { reason: fault });
    supervisor.status(fault ?? status());
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs: 0, run });
  return () => void task.close();
}
