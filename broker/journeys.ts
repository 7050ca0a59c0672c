// Trips and stops of a device in a period, read page by page. A trip or stop belongs to the period in which it begins and is
// given whole, so adjoining periods share none and lose none, and no report depends on how its period was cut.
import type { Database } from '../src/ports.ts';
import { beganMs, endTrips, type Journey, startTrips, stepTrips } from './core/trips.ts';
import { type TrackSpan, trackEvents } from './store/trip-events.ts';

/** Read before the period, so that a trip under way at its beginning is known as one. */
const lookBackMs = 24 * 3_600_000;
/** Read after it, until what began in it has ended. */
const lookAheadMs = 31 * 24 * 3_600_000;

export interface Period extends TrackSpan {
  /** Later events are of a clock that runs ahead, and left out. */
  readonly plausibleMs: number;
}

/** What began in the period, in order, some at a time. The last one may be open, where the events end. */
export async function* journeysOf(
  db: Database,
  period: Period,
): AsyncGenerator<readonly Journey[], void, undefined> {
  const isInside = (journey: Journey): boolean =>
    beganMs(journey) >= period.fromMs && beganMs(journey) <= period.toMs;
  let state = startTrips;
  const fromMs = period.fromMs - lookBackMs;
  const toMs = Math.min(period.toMs + lookAheadMs, period.plausibleMs);
  for await (const events of trackEvents(db, { ...period, fromMs, toMs })) {
    const found: Journey[] = [];
    for (const event of events) {
      const step = stepTrips(state, event);
      state = step.state;
      found.push(...step.ended);
    }
    const inside = found.filter(isInside);
    if (inside.length > 0) yield inside;
    // Later ones begin later still.
    if (found.some((journey) => beganMs(journey) > period.toMs)) return;
  }
  const open = endTrips(state).filter(isInside);
  if (open.length > 0) yield open;
}
