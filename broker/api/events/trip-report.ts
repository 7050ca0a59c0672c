// Trips and stops of a device in a period, read page by page. A trip or stop belongs to the period in which it begins and
// is given whole, so adjoining periods share none and lose none, and the result does not depend on how periods are cut.
import type { Database } from '../../../src/ports.ts';
import { beganMs, endTrips, startTrips, stepTrips, type TripOrStop } from '../../core/events/trips.ts';
import { type TrackSpan, trackEvents } from '../../store/events/trip-events.ts';

/** Read before the period, so that a trip under way at its beginning is known as one. */
const lookBackMs = 24 * 3_600_000;
/** Read after it, until what began in it has ended. */
const lookAheadMs = 31 * 24 * 3_600_000;

export interface Period extends TrackSpan {
  /** Later events are of a clock that runs ahead, and left out. */
  readonly plausibleMs: number;
}

/** What began in the period, in order, some at a time. The last one may be open, where the events end. */
export async function* tripsAndStops(
  db: Database,
  period: Period,
): AsyncGenerator<readonly TripOrStop[], void, undefined> {
  const isInside = (item: TripOrStop): boolean =>
    beganMs(item) >= period.fromMs && beganMs(item) <= period.toMs;
  let state = startTrips;
  const fromMs = period.fromMs - lookBackMs;
  const toMs = Math.min(period.toMs + lookAheadMs, period.plausibleMs);
  for await (const events of trackEvents(db, { ...period, fromMs, toMs })) {
    const found: TripOrStop[] = [];
    for (const event of events) {
      const step = stepTrips(state, event);
      state = step.state;
      found.push(...step.ended);
    }
    const inside = found.filter(isInside);
    if (inside.length > 0) yield inside;
    // Later ones begin later still.
    if (found.some((item) => beganMs(item) > period.toMs)) return;
  }
  const open = endTrips(state).filter(isInside);
  if (open.length > 0) yield open;
}
