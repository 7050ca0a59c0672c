// The vehicle and its geozones: compares each believable fix with them, tells of arrivals and departures, and passes on what
// zones ask for. It moves nothing itself: wishes go to the commands, which the interlock decides on.
import { type FeatureName, type FeatureState, featureNames } from '../../../src/core/event.ts';
import { statusCodes } from '../../../src/core/status-codes.ts';
import { wasSuspectAt } from '../evidence/gnss-standing.ts';
import type { Fix } from '../gnss/epochs.ts';
import { bestOrigin, upMsAt } from '../timekeeping.ts';
import { type Circumstances, decideAutomations, type ToldCrossing } from '../zones/zone-automation.ts';
import type { ZoneSet } from '../zones/zone-set.ts';
import { withSet, withWatch } from '../zones/zone-state.ts';
import { type Crossing, type Mark, stepZones, type ZoneWatch, zoneWatchLimits } from '../zones/zone-watch.ts';
import {
  commitNow,
  evidenceOf,
  log,
  put,
  record,
  type StampedEvent,
  stamp,
  type Work,
} from './vehicle-state.ts';

/** `requestLocal` of the vehicle's commands. */
export type RequestLocal = (
  work: Work,
  request: {
    readonly feature: FeatureName;
    readonly state: FeatureState;
    readonly source: 'zone';
    readonly reason: string;
  },
) => void;

/**
 * Turns to the zones of a configuration. Zones that are gone make no departure; a new one that holds the vehicle makes an
 * arrival marked `byConfig` with the next fix, which asks for nothing.
 * @param set from `createZones`, which takes its time; make it before the step.
 */
export function applyZones(work: Work, set: ZoneSet): void {
  put(work, { zones: withSet(work.state.zones, set) });
  log(work, 'info', 'geozones', { zones: set.zones.length, fingerprint: set.fingerprint });
}

/** Two fixes of one step can bring some wishes each; older ones than these nobody would carry out. */
const wishesMost = 8;

const codes = {
  inside: { place: statusCodes.GEOFENCE_ARRIVE, corridor: statusCodes.CORRIDOR_ARRIVE },
  outside: { place: statusCodes.GEOFENCE_DEPART, corridor: statusCodes.CORRIDOR_DEPART },
} as const;

function codeOf({ zone, mark }: Crossing): number {
  return codes[mark.to][zone.zone.type === 2 ? 'corridor' : 'place'].code;
}

/** The event of a border that was crossed before the start: only what the record knows of it. */
function carriedEvent(work: Work, { utcMs, latitude, longitude }: Mark): StampedEvent {
  const origin = bestOrigin(work.state.time);
  const event = {
    timestamp: utcMs,
    upMs: 0,
    timeQuality: origin?.quality ?? 'none',
    statusCode: statusCodes.GEOFENCE_ARRIVE.code,
    latitude,
    longitude,
  } as const;
  return { event, priority: statusCodes.GEOFENCE_ARRIVE.priority };
}

/** Keeps the event of each open mark as it is now, when the border is crossed: time, place, contacts, odometer. */
function holdEvents(
  work: Work,
  marks: readonly Mark[],
  held: ReadonlyMap<Mark, StampedEvent>,
): ReadonlyMap<Mark, StampedEvent> {
  if (marks.length === 0) return held.size === 0 ? held : new Map();
  const { code } = statusCodes.GEOFENCE_ARRIVE;
  return new Map(
    marks.map((mark) => {
      if (mark.isCarried) return [mark, carriedEvent(work, mark)];
      return [mark, held.get(mark) ?? stamp(work, { statusCode: code }, mark.atMs ?? work.now.monoMs)];
    }),
  );
}

function circumstances(work: Work): Circumstances {
  const { profile } = work.config;
  return {
    // Without a panic input nobody can have pressed it.
    panic: profile.inputs.panic === undefined ? false : evidenceOf(work).panic.value,
    isSuspect: wasSuspectAt(work.state.evidence.gnss, work.now.monoMs),
    fitted: featureNames.filter((name) => profile.relays[name] !== undefined),
  };
}

function tell(work: Work, told: readonly ToldCrossing[], held: ReadonlyMap<Mark, StampedEvent>): void {
  const events = told.map(({ crossing, attributes }): StampedEvent => {
    const { mark, zone } = crossing;
    const { event, priority } = held.get(mark) ?? carriedEvent(work, mark);
    const statusCode = codeOf(crossing);
    log(work, 'info', 'geozone', { geozoneID: zone.id, ...attributes, is: mark.to });
    return { event: { ...event, statusCode, geozoneID: zone.id, attributes }, priority };
  });
  commitNow(work, events);
}

function tellCrowd(work: Work, isCrowded: boolean): void {
  if (!isCrowded || work.state.zones.isCrowdTold) return;
  put(work, { zones: { ...work.state.zones, isCrowdTold: true } });
  const { tracked, examined } = zoneWatchLimits;
  const reason = `more geozones at one place than are watched: ${tracked} at once, ${examined} looked at`;
  log(work, 'warn', 'geozones', { reason });
  record(work, {
    statusCode: statusCodes.INTERNAL_FAILURE.code,
    attributes: { part: 'zones', reason },
  });
}

/**
 * Compares a believable fix with the zones; call it once `state.fix` is this fix. Events of crossings are committed at once,
 * together with the record, so that after a crash either both are there or neither. What zones ask for waits in the state for
 * `carryOutWishes`.
 */
export function watchZones(work: Work, fix: Fix): void {
  const { zones, settings, time } = work.state;
  if (zones.set === null) return;
  const origin = bestOrigin(time);
  const utcMs = origin === null ? null : origin.originMs + upMsAt(time, fix.atMonoMs);
  const step = stepZones(zones.watch, { set: zones.set, fix, utcMs, settings: settings.zones });
  const marks = [...step.watch.marks, ...step.crossings.map(({ mark }) => mark)];
  // Stamped while the vehicle still is where it was before: the zone of a position is the one that it came from.
  const held = holdEvents(work, marks, zones.held);
  const { told, wishes } = decideAutomations(step.crossings, circumstances(work));
  put(work, {
    zones: {
      ...withWatch(zones, step.watch),
      held: keepOpen(step.watch, held),
      wishes: [...zones.wishes, ...wishes].slice(-wishesMost),
    },
  });
  tellCrowd(work, step.isCrowded);
  if (told.length === 0) return;
  tell(work, told, held);
  // The position of this very fix is reported too: with the zone that the vehicle is in now, or with none.
  put(work, { reporting: { ...work.state.reporting, lastReport: null } });
}

function keepOpen(
  { marks }: ZoneWatch,
  held: ReadonlyMap<Mark, StampedEvent>,
): ReadonlyMap<Mark, StampedEvent> {
  if (marks.length === held.size) return held;
  const open = new Set(marks);
  return new Map([...held].filter(([mark]) => open.has(mark)));
}

/** Passes on what zones asked for in this step, safe wishes first. */
export function carryOutWishes(work: Work, requestLocal: RequestLocal): void {
  const { wishes } = work.state.zones;
  if (wishes.length === 0) return;
  put(work, { zones: { ...work.state.zones, wishes: [] } });
  for (const wish of wishes) requestLocal(work, { ...wish, source: 'zone' });
}
