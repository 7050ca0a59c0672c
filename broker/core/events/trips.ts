// Trips, stops and distance as a state machine over the events of one device in the order of event time. Pure. `belief.ts`
// decides which positions count, `trip-way.ts` what a stop is. A stop depends on the time around it only, so a report does not
// depend on the limits of its period, the order of arrival or the clock; and a standing vehicle drives no distance, however its
// position jitters.
import { type BeliefState, startBelief, stepBelief } from './belief.ts';
import { laterCounters, noCounters } from './bus-counters.ts';
import { laterDriver } from './trip-drivers.ts';
import {
  addFix,
  addReadings,
  breakOff,
  type Known,
  startWay,
  type TripEvent,
  type TripOrStop,
  type Way,
  type WayStep,
} from './trip-way.ts';

/** Raised with each change of what is a trip or a stop: nothing that older rules have found is answered then. */
export const tripRules = 1;

/** What is known so far; plain JSON. */
export interface TripState {
  readonly belief: BeliefState;
  readonly known: Known;
  /** Along the believed track; null before its first position. */
  readonly way: Way | null;
  /** Along the rival track, with what has ended on it. */
  readonly rival: WayStep | null;
}

export const startTrips: TripState = {
  belief: startBelief,
  known: { ignition: null, fuelLevel: null, bus: noCounters, driver: null },
  way: null,
  rival: null,
};

export interface TripStep {
  readonly state: TripState;
  /** What has ended with this event, in order. */
  readonly ended: readonly TripOrStop[];
}

/** Takes the next event; the caller gives them in the order of event time, those of one moment in a fixed order. */
export function stepTrips(before: TripState, event: TripEvent): TripStep {
  const { state: belief, belief: believed } = stepBelief(before.belief, event);
  const known: Known = {
    ignition: belief.ignition,
    fuelLevel: event.fuelLevel ?? before.known.fuelLevel,
    bus: laterCounters(before.known.bus, event.bus, event.timestampMs),
    driver: laterDriver(before.known.driver, event.driver, event.timestampMs),
  };
  const { kind } = believed;
  const fix = believed.kind === 'none' ? null : { ...believed.fix, speed: event.speed };
  let main: WayStep | null = before.way === null ? null : { way: before.way, ended: [] };
  let { rival } = before;
  if (fix !== null && kind === 'believed') {
    main = main === null ? { way: startWay(fix, known, null), ended: [] } : addFix(main.way, fix, known);
    rival = null;
  } else if (fix !== null && (rival === null || (believed.kind === 'rival' && believed.isFirst))) {
    rival = { way: startWay(fix, known, before.way), ended: [] };
  } else if (fix !== null && rival !== null) {
    const { way, ended } = addFix(rival.way, fix, known);
    rival = { way, ended: [...rival.ended, ...ended] };
  }
  if (rival !== null) rival = addReadings(rival, event);
  if (kind === 'adopted' && rival !== null && main !== null) {
    const ended = [...breakOff(main.way, false), ...rival.ended];
    return { state: { belief, known, way: rival.way, rival: null }, ended };
  }
  if (main !== null) main = addReadings(main, event);
  return { state: { belief, known, way: main?.way ?? null, rival }, ended: main?.ended ?? [] };
}

/** The same for several events. */
export function stepAll(before: TripState, events: readonly TripEvent[]): TripStep {
  let state = before;
  const ended: TripOrStop[] = [];
  for (const event of events) {
    const step = stepTrips(state, event);
    state = step.state;
    ended.push(...step.ended);
  }
  return { state, ended };
}

/** What was still going on when the events ended. */
export function endTrips({ way }: TripState): readonly TripOrStop[] {
  return way === null ? [] : breakOff(way, true);
}

/** When something that ended, or goes on, began. */
export function beganMs(item: TripOrStop): number {
  return (item.kind === 'trip' ? item.trip.start : item.stop.start).timestampMs;
}
