// Made drives for the tests of trips: legs of a day as records, and what the reports make of them.
import type { Trip, TripEvent, TripOrStop } from '../../../broker/core/events/trip-way.ts';
import { endTrips, startTrips, stepAll } from '../../../broker/core/events/trips.ts';

export const startMs = Date.UTC(2026, 0, 5, 6);
export const metre = 1 / 111_195;

export function eventAt(timestampMs: number, change: Partial<TripEvent> = {}): TripEvent {
  return {
    timestampMs,
    statusCode: 61472,
    point: { latitude: 43.6, longitude: -79.3 },
    speed: 0,
    odometer: null,
    fuelLevel: null,
    ignition: null,
    satellites: null,
    hdop: null,
    accuracy: null,
    bus: null,
    driver: null,
    ...change,
  };
}

export function tripsAndStops(events: readonly TripEvent[]): readonly TripOrStop[] {
  const { state, ended } = stepAll(startTrips, events);
  return [...ended, ...endTrips(state)];
}

export const tripsOf = (events: readonly TripEvent[]): readonly Trip[] =>
  tripsAndStops(events).flatMap((one) => (one.kind === 'trip' ? [one.trip] : []));
export const stopsOf = (events: readonly TripEvent[]) =>
  tripsAndStops(events).flatMap((one) => (one.kind === 'stop' ? [one.stop] : []));

/** A leg of a made day: seconds, and metres a second due north (0 stands, with some metres of jitter). */
export interface Leg {
  readonly seconds: number;
  readonly speed: number;
}

export interface Day {
  readonly legs: readonly Leg[];
  readonly everyS?: number;
  readonly jitterM?: number;
  readonly change?: (event: TripEvent, at: number) => TripEvent;
}

/** Jitter that is the same every time. */
const wobble = (at: number): number => Math.sin(at * 12.9898) * Math.cos(at * 4.1414);

export function driveDay({
  legs,
  everyS = 10,
  jitterM = 5,
  change = (event) => event,
}: Day): readonly TripEvent[] {
  const events: TripEvent[] = [];
  let metres = 0;
  let ms = startMs;
  for (const { seconds, speed } of legs) {
    for (let passed = 0; passed < seconds; passed += everyS) {
      const at = events.length;
      const point = {
        latitude: 43.6 + (metres + wobble(at) * jitterM) * metre,
        longitude: -79.3 + (wobble(at + 1000) * jitterM * metre) / Math.cos((43.6 * Math.PI) / 180),
      };
      events.push(change(eventAt(ms, { point, speed: speed * 3.6, ignition: speed > 0 }), at));
      metres += speed * everyS;
      ms += everyS * 1000;
    }
  }
  return events;
}

export const park = (minutes: number): Leg => ({ seconds: minutes * 60, speed: 0 });
export const drive = (minutes: number, speed = 15): Leg => ({ seconds: minutes * 60, speed });
