// What the positions of a device without an agent say of geozones: the watch of the vehicles (`src/core/zones/`), fed with what is
// believed of its positions. Pure. It reports crossings and never asks a device for anything.
//
// Entering is crossing: a zone that held the last known place when it was first compared, or changed, is not entered.
import type { FleetEvent } from '../../../src/core/events/event.ts';
import type { Point } from '../../../src/core/geo/geo.ts';
import { zoneContains } from '../../../src/core/geo/geozone.ts';
import { standardSettings } from '../../../src/core/settings/settings.ts';
import { zonesNear } from '../../../src/core/zones/zone-index.ts';
import type { ZoneSet } from '../../../src/core/zones/zone-set.ts';
import {
  type Crossing,
  createZoneWatch,
  stepZones,
  type ZoneWatch,
  zoneWatchLimits,
} from '../../../src/core/zones/zone-watch.ts';
import {
  type BeliefEvent,
  type BeliefState,
  type BelievedFix,
  ignitionOf,
  startBelief,
  stepBelief,
} from '../events/belief.ts';
import { aheadOfClockMs } from '../events/projection.ts';

/** An event of a tracker, in so far as it concerns zones. */
export interface TrackerEvent extends BeliefEvent {
  readonly hdop: number | null;
}

export interface TrackerZones {
  readonly watch: ZoneWatch;
  readonly belief: BeliefState;
  /** Time of the newest position taken; what is older comes too late to say where the device went. */
  readonly newestMs: number;
  /** Since when the ignition has been off; null while it is on or not known. */
  readonly offSinceMs: number | null;
}

/** A device of which nothing is known. */
export const startTracker: TrackerZones = {
  watch: createZoneWatch(),
  belief: startBelief,
  newestMs: 0,
  offSinceMs: null,
};

/** What is kept of a watch over a restart; the rest is read from the records of the device. */
export type KeptZones = Pick<ZoneWatch, 'inside' | 'compared'>;

/** Null: the event has no time of its own, or one that cannot be right. */
export function trackerEvent(event: FleetEvent, receivedMs: number): TrackerEvent | null {
  const { timestamp, latitude, longitude, statusCode, attributes } = event;
  if (timestamp === null || timestamp > receivedMs + aheadOfClockMs) return null;
  const accuracy = attributes?.['accuracy'];
  return {
    timestampMs: timestamp,
    statusCode,
    point: latitude === undefined || longitude === undefined ? null : { latitude, longitude },
    speed: event.speed ?? null,
    ignition: event.inputs?.ignition ?? null,
    satellites: event.satellites ?? null,
    hdop: event.hdop ?? null,
    accuracy: typeof accuracy === 'number' && accuracy > 0 ? accuracy : null,
  };
}

interface Believed {
  readonly state: TrackerZones;
  readonly fix: BelievedFix | null;
  /** What was believed before was a single position that none confirmed. */
  readonly isFirst: boolean;
}

/** The belief after one event; null: it comes too late. */
function believe(before: TrackerZones, event: TrackerEvent): Believed | null {
  if (event.timestampMs < before.newestMs) return null;
  const { state: belief, belief: outcome } = stepBelief(before.belief, event);
  const ignition = ignitionOf(event);
  const offSinceMs =
    ignition === null ? before.offSinceMs : ignition ? null : (before.offSinceMs ?? event.timestampMs);
  const newestMs = event.point === null ? before.newestMs : event.timestampMs;
  const state = { ...before, belief, offSinceMs, newestMs };
  const isBelieved = outcome.kind === 'believed' || outcome.kind === 'adopted';
  const isFirst = outcome.kind === 'adopted' && before.belief.track?.fixes === 1;
  return { state, fix: isBelieved ? outcome.fix : null, isFirst };
}

/** The device as its earlier records leave it, oldest first. @param kept what is stored of its watch; null: nothing. */
export function resumeTracker(kept: KeptZones | null, earlier: readonly TrackerEvent[]): TrackerZones {
  let state = startTracker;
  for (const event of earlier) state = believe(state, event)?.state ?? state;
  const lastMs = state.belief.track?.last.place.timestampMs ?? null;
  return { ...state, watch: { ...state.watch, ...kept, lastMs } };
}

/** Compares the last known place with zones that it was not compared with: what holds it now was not entered. */
function comparedAnew(watch: ZoneWatch, set: ZoneSet, place: Point): ZoneWatch {
  const inside = zonesNear(set.index, place, zoneWatchLimits.examined)
    .flatMap((number) => set.zones[number] ?? [])
    .filter(({ zone }) => zoneContains(zone, place))
    .slice(0, zoneWatchLimits.tracked)
    .map(({ id }) => id);
  return { ...watch, inside, marks: [], compared: set.fingerprint };
}

const settings = { ...standardSettings.zones };
/** Of a device that reports less often than the dwell time, one position beyond the border is all that there will be of it. */
const sparseSettings = { ...settings, dwellS: 0 };

function compare(
  { watch, offSinceMs }: TrackerZones,
  set: ZoneSet,
  { fix, event }: { readonly fix: BelievedFix; readonly event: TrackerEvent },
) {
  const { latitude, longitude, timestampMs } = fix.place;
  const { rangeErrorM } = zoneWatchLimits;
  return stepZones(watch, {
    set,
    fix: {
      atMonoMs: timestampMs,
      latitude,
      longitude,
      speedKmh: event.speed,
      hdop: event.hdop ?? (event.accuracy === null ? null : event.accuracy / rangeErrorM),
    },
    utcMs: timestampMs,
    settings:
      timestampMs - (watch.lastMs ?? timestampMs) < settings.dwellS * 1000 ? settings : sparseSettings,
    offSinceMs,
  });
}

/**
 * Takes the events of one payload.
 * @returns the device after them, and the borders that it crossed, by time.
 */
export function stepTracker(
  before: TrackerZones,
  set: ZoneSet,
  events: readonly TrackerEvent[],
): { readonly state: TrackerZones; readonly crossings: readonly Crossing[] } {
  let state = before;
  const crossings: Crossing[] = [];
  for (const event of events.toSorted((one, other) => one.timestampMs - other.timestampMs)) {
    const place = state.belief.track?.last.place ?? null;
    const believed = believe(state, event);
    if (believed === null) continue;
    const { fix, isFirst } = believed;
    state = believed.state;
    if (fix === null) continue;
    const known = isFirst ? null : place;
    if (isFirst || state.watch.compared !== set.fingerprint)
      state = { ...state, watch: comparedAnew(state.watch, set, known ?? fix.place) };
    const step = compare(state, set, { fix, event });
    state = { ...state, watch: step.watch };
    crossings.push(...step.crossings);
  }
  return { state, crossings };
}
