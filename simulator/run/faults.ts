// The faults of a scenario in time: each begun and ended at its moment, counted from the start of the run, and further ones while it
// goes on. What a fault does stands in `vehicle-faults.ts` and `network.ts`; this file only keeps the hours.
import type { Cancel, Clock } from '../../src/ports.ts';
import type { Fault } from '../core/scenario-schema.ts';
import type { RunTime } from './fleet-vehicle.ts';

export interface FaultSchedule {
  /** What goes wrong now. */
  active(): readonly string[];
  /** One more, in the time of the run. */
  add(fault: Fault): void;
  /** Ends all that goes on, and begins nothing further. */
  close(): void;
}

export interface FaultOptions {
  readonly clock: Clock;
  readonly time: RunTime;
  /** Begins it; gives the way to end it. */
  begin(fault: Fault): Cancel;
  onChange?(fault: Fault, isActive: boolean): void;
}

/** Faults kept in mind at once: those of a scenario and as many by hand. */
export const faultsMost = 2000;

/** Sets a timer for each. */
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
