// The veto of the vehicle bus: a fresh speed above 3 km/h from any sender, or an engine that runs. Zeros and silence
// prove nothing: they neither allow nor refuse a change.
import type { BusActivity, BusReading } from './bus-reading.ts';

export interface BusVeto {
  readonly isMoving: boolean;
  readonly isEngineRunning: boolean;
}

const isFresh = (activity: BusActivity | null, nowMs: number): boolean =>
  activity !== null && nowMs <= activity.untilMs;

/** The veto at `nowMs`; null: the bus says nothing against a change. */
export function busVetoAt(reading: BusReading | null, nowMs: number): BusVeto | null {
  if (reading === null) return null;
  const isMoving = isFresh(reading.view.movement, nowMs);
  const isEngineRunning = isFresh(reading.view.engine, nowMs);
  return isMoving || isEngineRunning ? { isMoving, isEngineRunning } : null;
}
