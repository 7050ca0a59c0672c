// Waiting with a limit, over the Clock port, without a timer left behind.
import type { Cancel, Clock } from './ports.ts';

/** Lets `delayMs` pass. */
export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(delayMs, resolve));
}

/** Resolves when `work` has settled, successfully or not, or after `limitMs`. Never rejects. */
export async function waitAtMost(clock: Clock, work: Promise<unknown>, limitMs: number): Promise<void> {
  let cancel: Cancel = () => undefined;
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(limitMs, resolve);
  });
  await Promise.race([
    work.then(
      () => undefined,
      () => undefined,
    ),
    late,
  ]);
  cancel();
}
