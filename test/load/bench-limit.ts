// The time cap of a section of a bench, and what it is at, told each second. A section that is cut says how far it had come;
// it never goes on in silence, and what it had found by then counts.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Say } from './agent-figures.ts';

export interface Watch {
  /** What the section is at; told within a second. */
  at(text: string): void;
  /** Until the cap, in ms; never below zero. */
  leftMs(): number;
  /** True when the cap has struck; then it says what stood. */
  isOver(): boolean;
}

export interface Limit {
  readonly section: string;
  readonly limitS: number;
  readonly say: Say;
}

/** For a section that looks at its watch. One that hangs is given up this long after the cap. */
const graceMs = 30_000;
const tellEveryMs = 1000;

/** Runs a section. @throws Error when it does not end, with what stood. */
export async function withinLimit<Result>(
  { section, limitS, say }: Limit,
  work: (watch: Watch) => Promise<Result>,
): Promise<Result> {
  const beganMs = performance.now();
  let [now, told, hasSaidSo] = ['begins', '', false];
  const spentS = (): string => ((performance.now() - beganMs) / 1000).toFixed(0);
  const leftMs = (): number => Math.max(0, beganMs + limitS * 1000 - performance.now());
  const ticker = setInterval(() => {
    if (now !== told) say(`${section} ${spentS().padStart(4)} s: ${now}`);
    told = now;
  }, tellEveryMs);
  const over = new AbortController();
  try {
    const running = work({
      at: (text) => void (now = text),
      leftMs,
      isOver() {
        if (leftMs() > 0) return false;
        if (!hasSaidSo) say(`${section}: the time cap of ${limitS} s has struck at: ${now}`);
        hasSaidSo = true;
        return true;
      },
    });
    const given = sleep(limitS * 1000 + graceMs, null, { signal: over.signal }).then(() => {
      throw new Error(`${section} hangs, ${graceMs / 1000} s after its time cap of ${limitS} s, at: ${now}`);
    });
    return await Promise.race([running, given]);
  } finally {
    clearInterval(ticker);
    over.abort();
  }
}
