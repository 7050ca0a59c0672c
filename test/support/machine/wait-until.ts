// Waits for what a test expects. A deadline here ends a hang and judges no speed: a minute or more, and its error says how much of that
// time the machine kept from this process.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Ends a hang; no test passes or fails by how fast a machine is. */
export const hangMs = 120_000;

/** Total time in which some process of this machine waited for a core, us (`/proc/pressure/cpu`); null: this kernel does not count it. */
function pressureUs(): number | null {
  try {
    return Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1] ?? Number.NaN);
  } catch {
    return null;
  }
}

/** Of a wait, what the machine kept from this process: so late was its event loop once, or so much of the wait did processes queue for a core. */
const stall = { lateMs: 1000, queuedShare: 0.5 };

/** What was waited for did not come. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  /** A stall of the machine was measured meanwhile: `test/run.mjs` lets such a file run once more, alone. */
  readonly isStalled: boolean;

  constructor(text: string, isStalled: boolean) {
    super(text);
    this.isStalled = isStalled;
  }
}

export interface Wait {
  /** Ends a hang; `hangMs` unless given. */
  readonly limitMs?: number;
  /** Pause between two looks, ms; 10 unless given. A service that is asked over HTTP limits how often. */
  readonly everyMs?: number;
  /** Last lines of a process, or what was seen instead, for the error. */
  readonly seen?: () => string;
}

/**
 * Looks again and again until `look` gives something other than false, null or undefined, and returns that.
 * An error that `look` throws ends the wait: what is wrong does not become right.
 * @param what for the error: "waited 120 s for …".
 */
export async function waitUntil<T>(
  what: string,
  look: () => T | Promise<T>,
  { limitMs = hangMs, everyMs = 10, seen }: Wait = {},
): Promise<Exclude<T, false | null | undefined | void>> {
  const beganMs = performance.now();
  const beganUs = pressureUs();
  let stalledMs = 0;
  for (;;) {
    const found = await look();
    if (found !== false && found !== null && found !== undefined)
      return found as Exclude<T, false | null | undefined | void>;
    const nowMs = performance.now();
    if (nowMs - beganMs > limitMs) {
      const queuedMs = beganUs === null ? null : ((pressureUs() ?? beganUs) - beganUs) / 1000;
      const queued = queuedMs === null ? '' : `, processes waited ${Math.round(queuedMs)} ms for a core`;
      const saw = seen === undefined ? '' : `; seen: ${seen()}`;
      const text = `waited ${Math.round(limitMs / 1000)} s for ${what} (event loop late by ${Math.round(stalledMs)} ms${queued})${saw}`;
      const isStalled = stalledMs >= stall.lateMs || (queuedMs ?? 0) >= stall.queuedShare * (nowMs - beganMs);
      throw new DeadlineError(text, isStalled);
    }
    await sleep(everyMs);
    stalledMs = Math.max(stalledMs, performance.now() - nowMs - everyMs);
  }
}
