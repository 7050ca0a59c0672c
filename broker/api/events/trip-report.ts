// Trips and stops of a device in a period, read page by page. A trip or stop belongs, as a whole, to the period in which it
// begins. So adjoining periods share none and lose none.
import { dayMs } from '../../../src/core/durations.ts';
import type { Database } from '../../../src/ports.ts';
import { beliefLimits } from '../../core/events/belief.ts';
import type { TripOrStop } from '../../core/events/trip-way.ts';
import { beganMs, endTrips, startTrips, stepAll, type TripState } from '../../core/events/trips.ts';
import {
  blockStart,
  itemsOf,
  keyOf,
  stateOf,
  storedDays,
  type TripDay,
} from '../../store/events/trip-days.ts';
import { earlierPositionsMs, type TrackSpan, tripEvents } from '../../store/events/trip-events.ts';

/**
 * Read before the period: a trip under way is then recognized, and a long stop is not taken for a new one. A parked vehicle may
 * send a position a week.
 */
const lookBack = { ms: 24 * 3_600_000, positions: 50 } as const;
/** Read after it, until what began in it has ended. */
const lookAheadMs = 31 * 24 * 3_600_000;

export interface Period extends TrackSpan {
  /** Later events are of a clock that runs ahead, and left out. */
  readonly plausibleMs: number;
}

/** What ends in the span, in order, and at last what still goes on. Days that were read before are not read again. */
async function* endedTrips(
  db: Database,
  span: TrackSpan,
): AsyncGenerator<readonly TripOrStop[], void, undefined> {
  /** `stored`: the state is that after this day, which is parsed only where events follow. */
  const at: { state: TripState; stored: TripDay | null } = { state: startTrips, stored: null };
  const parse = (): void => {
    if (at.stored !== null) at.state = stateOf(at.stored);
    at.stored = null;
  };
  async function* read(fromMs: number, toMs: number) {
    if (fromMs > toMs) return;
    for await (const events of tripEvents(db, { ...span, fromMs, toMs })) {
      parse();
      const { state, ended } = stepAll(at.state, events);
      at.state = state;
      yield ended;
    }
  }
  let { fromMs } = span;
  for (const [day, known] of await storedDays(db, span)) {
    yield* read(fromMs, day * dayMs - 1);
    fromMs = day * dayMs;
    const key = at.stored?.toKey ?? keyOf(at.state);
    const stored = known.find(({ fromKey }) => fromKey === key);
    if (stored === undefined) continue;
    yield itemsOf(stored);
    at.stored = stored;
    fromMs += dayMs;
  }
  yield* read(fromMs, span.toMs);
  parse();
  yield endTrips(at.state);
}

/** Trips and stops that began in the period, in order, in portions. The last one may be open. */
export async function* tripsAndStops(
  db: Database,
  period: Period,
): AsyncGenerator<readonly TripOrStop[], void, undefined> {
  const beforeMs = period.fromMs - lookBack.ms;
  const earlierMs = await earlierPositionsMs(db, period, { beforeMs, positions: lookBack.positions });
  const fromMs = blockStart(Math.floor((earlierMs ?? beforeMs) / dayMs)) * dayMs;
  const toMs = Math.min(period.toMs + lookAheadMs, period.plausibleMs);
  for await (const ended of endedTrips(db, { ...period, fromMs, toMs })) {
    // Later ones begin later still.
    const end = ended.findIndex((item) => beganMs(item) > period.toMs);
    const inside = (end < 0 ? ended : ended.slice(0, end)).filter((item) => beganMs(item) >= period.fromMs);
    if (inside.length > 0) yield inside;
    if (end >= 0) return;
  }
}

/** For the descriptions of operations. */
export const tripText = `A vehicle has stopped when its positions stay within 60 m for 3 minutes (1 minute with the ignition off; half an
hour within 500 m where none of them shows movement); a trip leads from one stop to the next and gets further than 200 m from where it
began. An hour without a position ends a trip where the vehicle was last seen; what it did meanwhile is not counted, unless its own odometer
counted it: then that is a trip of its own.

Only believed positions count. A position that no road vehicle can have reached from the last believed one (${beliefLimits.fastestKmh} km/h, or ${beliefLimits.steadyKmh} km/h for
longer than a minute) is left out, and so is one more than 1 km away between two reports of rest or of an ignition that is off (a ferry, a
tow, a cell tower), one of fewer than ${beliefLimits.satellites} satellites, an \`hdop\` above ${beliefLimits.hdop} or an attribute \`accuracy\` above ${beliefLimits.accuracyM} m that shows no movement, and latitude
and longitude 0. If the vehicle is shown elsewhere for longer than it was known where it was (where that is less than 12 hours), or for an hour and as long as the drive there
at ${beliefLimits.travelKmh} km/h, it is believed there, and its way begins again without the distance between. While an ignition that works is off a vehicle
stays where it was parked, however its position jitters. A speed that its positions contradict is no maximum.

\`distance\` is the vehicle's own odometer between its first and last reading on the trip where that fits its positions, and the way between
its positions before, after and otherwise. \`busDistance\`, \`busFuelUsed\` and \`busEngineHours\` are what
the vehicle counted on its own bus (J1939), from the trip's start until it has stood at its end; they replace no other member, and a
counter that went back or leapt gives null. \`driverUniqueIds\` are the keys of which the vehicle said that their owners drive
while it moved (DRIVER_IDENTIFIED, DRIVER_CLEARED and \`driverUniqueId\` of other events); \`drivers\` says whose keys they were then. Everything goes by event time: records that arrive late
count where they belong.`;
