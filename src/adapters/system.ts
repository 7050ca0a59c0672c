// Clock and Entropy of the operating system.
import { randomBytes, randomFillSync, randomInt } from 'node:crypto';
import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock, Entropy } from '../ports.ts';

/** Longest delay of a Node timer; a longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Period of the measurement of suspended time, and the least that counts: `uptime` is coarse. */
const sleepLookMs = 1000;
const sleepLeastMs = 2000;

/**
 * Monotonic time that goes on while the machine is suspended. CLOCK_MONOTONIC stops then, and a command would
 * expire late; the uptime (CLOCK_BOOTTIME) does not.
 */
function createMonotonic(): () => number {
  const startMs = uptime() * 1000 - performance.now();
  let asleepMs = 0;
  let lookedMs = -sleepLookMs;
  return () => {
    const awakeMs = performance.now();
    if (awakeMs - lookedMs >= sleepLookMs) {
      lookedMs = awakeMs;
      const foundMs = uptime() * 1000 - awakeMs - startMs;
      if (foundMs - asleepMs >= sleepLeastMs) asleepMs = foundMs;
    }
    return awakeMs + asleepMs;
  };
}

export function createSystemClock(): Clock {
  return {
    monoMs: createMonotonic(),
    utcMs: () => Date.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, Math.min(Math.max(0, delayMs), longestTimerMs));
      return () => clearTimeout(timer);
    },
  };
}

/** Random bytes fetched at once for short ids: each system call costs more than the bytes. */
const pooledBytes = 4096;
/** Longer values are keys and tokens: they never lie in a pool. */
const pooledMost = 8;

/** Short random values, each given out once. */
function createPool(): (count: number) => Uint8Array {
  const pool = new Uint8Array(pooledBytes);
  let used = pooledBytes;
  return (count) => {
    if (used + count > pooledBytes) {
      randomFillSync(pool);
      used = 0;
    }
    used += count;
    return pool.slice(used - count, used);
  };
}

export function createSystemEntropy(): Entropy {
  const pooled = createPool();
  return {
    bytes: (count) => (count <= pooledMost ? pooled(count) : new Uint8Array(randomBytes(count))),
    fraction: () => randomInt(2 ** 47) / 2 ** 47,
  };
}
