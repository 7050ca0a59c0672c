// Begins and ends the faults of a run at their times; faults can be added meanwhile. Their effects are in
// `vehicle-faults.ts` and `network.ts`.
import type { Cancel, Clock } from '../../../src/ports.ts';
import type { Fault } from '../../core/scenario/scenario-schema.ts';
import { type RunTime } from '../shared/run-ports.ts';

export interface FaultSchedule {
  /** Kinds of the faults that are active. */
  active(): readonly string[];
  /** Adds a fault; its times are seconds of the run. */
  add(fault: Fault): void;
  /** Ends all active faults and begins no further one. */
  close(): void;
}

export interface FaultOptions {
  readonly clock: Clock;
  readonly time: RunTime;
  /** Begins a fault. @returns the way to end it. */
  begin(fault: Fault): Cancel;
  onChange?(fault: Fault, isActive: boolean): void;
}

/** Bound of timers: those of a scenario and as many added ones. */
const faultsMost = 2000;

export function scheduleFaults(options: FaultOptions, faults: readonly Fault[]): FaultSchedule {
  const { clock, time, onChange } = options;
  const timers = new Set<Cancel>();
  const running = new Map<Fault, Cancel>();
  const later = (delayMs: number, run: () => void): void => {
    const cancel = clock.after(Math.max(0, delayMs), () => {
      timers.delete(cancel);
      run();
    });
    timers.add(cancel);
  };
  const end = (fault: Fault): void => {
    const stop = running.get(fault);
    if (stop === undefined) return;
    running.delete(fault);
    stop();
    onChange?.(fault, false);
  };
  const start = (fault: Fault): void => {
    running.set(fault, options.begin(fault));
    onChange?.(fault, true);
    later((fault.atS + fault.forS) * 1000 - time.nowMs(), () => end(fault));
  };
  const add = (fault: Fault): void => {
    if (timers.size < faultsMost) later(fault.atS * 1000 - time.nowMs(), () => start(fault));
  };
  for (const fault of faults) add(fault);
  return {
    active: () => [...running.keys()].map(({ kind }) => kind),
    add,
    close() {
      for (const cancel of timers) cancel();
      timers.clear();
      for (const fault of running.keys()) end(fault);
    },
  };
}
