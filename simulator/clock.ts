// Clocks of the simulator: a virtual clock that moves only on `advance`, and a wrapper with the errors of a vehicle's clock. The
// monotonic time of neither ever goes backwards.
import type { Cancel, Clock } from '../src/ports.ts';

export interface VirtualClock extends Clock {
  /** Runs every timer due within the next `ms` in order of due time, then of creation; timers may set timers. */
  advance(ms: number): void;
  /** Monotonic time of the next timer, null if none is set: lets a simulation jump over silence. */
  nextDueMs(): number | null;
  /** Sets the wall clock (a step, as NTP or a battery change makes it); monotonic time is not touched. */
  setUtcMs(utcMs: number): void;
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
  /** Place in the heap, -1 when it is not there. */
  at: number;
}

interface TimerHeap {
  first(): Timer | undefined;
  add(timer: Timer): void;
  remove(timer: Timer): void;
}

/** A binary heap with an index in every timer, so a cancelled one is removed at once. */
function createTimerHeap(): TimerHeap {
  const heap: Timer[] = [];
  const isBefore = (a: Timer, b: Timer): boolean =>
    a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
  const put = (timer: Timer, at: number): void => {
    heap[at] = timer;
    timer.at = at;
  };
  const rise = (timer: Timer): void => {
    let at = timer.at;
    while (at > 0) {
      const parent = heap[(at - 1) >> 1];
      if (parent === undefined || !isBefore(timer, parent)) break;
      const place = parent.at;
      put(parent, at);
      at = place;
    }
    put(timer, at);
  };
  const sink = (timer: Timer): void => {
    let at = timer.at;
    for (;;) {
      const left = heap[at * 2 + 1];
      const right = heap[at * 2 + 2];
      const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, timer)) break;
      const place = child.at;
      put(child, at);
      at = place;
    }
    put(timer, at);
  };
  return {
    first: () => heap[0],
    add(timer) {
      put(timer, heap.length);
      rise(timer);
    },
    remove(timer) {
      const last = heap.pop();
      const at = timer.at;
      timer.at = -1;
      if (last === undefined || last === timer) return;
      put(last, at);
      rise(last);
      sink(last);
    },
  };
}

/** A clock at `utcMs` (2025-11-21 by default) whose time stands still between calls of `advance`. */
export function createVirtualClock(utcMs = 1_763_683_200_000): VirtualClock {
  const timers = createTimerHeap();
  let nowMs = 0;
  let originMs = utcMs;
  let order = 0;
  return {
    monoMs: () => nowMs,
    utcMs: () => originMs + nowMs,
    after(delayMs, run): Cancel {
      order += 1;
      const timer: Timer = { dueMs: nowMs + Math.max(0, delayMs), order, run, at: -1 };
      timers.add(timer);
      return () => {
        if (timer.at >= 0) timers.remove(timer);
      };
    },
    advance(ms) {
      const untilMs = nowMs + Math.max(0, ms);
      for (
        let timer = timers.first();
        timer !== undefined && timer.dueMs <= untilMs;
        timer = timers.first()
      ) {
        timers.remove(timer);
        nowMs = Math.max(nowMs, timer.dueMs);
        timer.run();
      }
      nowMs = untilMs;
    },
    nextDueMs: () => timers.first()?.dueMs ?? null,
    setUtcMs(value) {
      originMs = value - nowMs;
    },
  };
}

export interface ClockErrors {
  /** Offset of the wall clock at the start, in ms. */
  readonly offsetMs?: number;
  /** Drift of the crystal in parts per million; a cheap one is within +-100. */
  readonly driftPpm?: number;
}

export interface WrongClock extends Clock {
  /** Moves the wall clock by `ms` at once; monotonic time does not step. */
  step(ms: number): void;
}

/** A vehicle's own clock: `clock` seen through a wrong start and a wrong crystal. Its monotonic origin is now. */
export function createWrongClock(clock: Clock, errors: ClockErrors = {}): WrongClock {
  const rate = 1 + (errors.driftPpm ?? 0) / 1e6;
  const startMonoMs = clock.monoMs();
  let originMs = clock.utcMs() + (errors.offsetMs ?? 0);
  const monoMs = (): number => (clock.monoMs() - startMonoMs) * rate;
  return {
    monoMs,
    utcMs: () => originMs + monoMs(),
    after: (delayMs, run) => clock.after(delayMs / rate, run),
    step(ms) {
      originMs += ms;
    },
  };
}
