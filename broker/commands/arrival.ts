// Time stamps that order arrivals: of requests, and of decisions for the safe state. In one process each is later than all before it. Between
// processes on one database they compare by wall clock, to the ms.
import type { Clock } from '../../src/ports.ts';

/** Returns the next stamp, in microseconds of epoch time. */
export type ArrivalClock = () => number;

/** Setback of the clock beyond which the stamps follow it, in microseconds. */
const aheadMostUs = 1_000_000;

/** @param clock of the process. */
export function createArrivalClock(clock: Pick<Clock, 'utcMs'>): ArrivalClock {
  let lastUs = 0;
  return () => {
    const nowUs = Math.round(clock.utcMs() * 1000);
    lastUs = nowUs <= lastUs && lastUs - nowUs < aheadMostUs ? lastUs + 1 : nowUs;
    return lastUs;
  };
}
