// Geozones as a module of the vehicle: compares each plausible fix with them, reports arrivals and departures, and passes
// on the requests of zones. It moves nothing itself: requests become commands, which the interlock decides on.
import { type FleetEvent, featureNames } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { ZoneConfig } from '../../../src/core/geo/zone-config.ts';
import { crossingCode } from '../../../src/core/zones/crossing.ts';
import { createZones, type ZoneSet, zoneOf } from '../../../src/core/zones/zone-set.ts';
import {
  adoptZones,
  type Mark,
  stepZones,
  type ZoneWatch,
  zoneWatchLimits,
} from '../../../src/core/zones/zone-watch.ts';
import { wasSuspectAt } from '../evidence/gnss-claim.ts';
import type { Fix } from '../gnss/epochs.ts';
import type { StepContext, VehicleModule } from '../kernel/module.ts';
import { requestLocal, reviewCommands } from '../kernel/vehicle-control.ts';
import { commitNow, evidenceOf, log, put, record, sensed, stamp } from '../kernel/vehicle-state.ts';
import { type StampedEvent } from '../outbox/stamped-event.ts';
import type { ZoneSide } from '../protection/command-record.ts';
import { bestOrigin, utcMsAt } from '../timekeeping.ts';
import {
  type AutomationContext,
  type CrossingReport,
  decideAutomations,
  sideOf,
  type ZoneRequest,
} from './zone-automation.ts';
import { recordZones, resumeZones, type ZoneRecord } from './zone-record.ts';

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    readonly zones: VehicleZones;
  }
  interface ModuleRows {
    readonly zones: ZoneRecord;
  }
}

export interface VehicleZones {
  /** Null until the first configuration of this start: until then nothing is compared and nothing removed. */
  readonly set: ZoneSet | null;
  readonly watch: ZoneWatch;
  /** Events of crossings that are not certain yet, as they were when the border was crossed. */
  readonly held: ReadonlyMap<Mark, StampedEvent>;
  /** What automations ask for in this step. */
  readonly requests: readonly ZoneRequest[];
  /** The sides that it is on since borders were crossed in this step. */
  readonly crossed: readonly ZoneSide[];
  /** It was reported that more zones overlap at one place than are watched. */
  readonly isCrowdReported: boolean;
  readonly record: ZoneRecord;
}

/** The zones with another watch; the record is a new one only if something in it changed. */
function withWatch(zones: VehicleZones, watch: ZoneWatch): VehicleZones {
  const { inside, marks, compared } = zones.watch;
  const isSame = watch.inside === inside && watch.marks === marks && watch.compared === compared;
  return { ...zones, watch, record: isSame ? zones.record : recordZones(watch) };
}

/** The zones after a new configuration. */
function withSet(zones: VehicleZones, set: ZoneSet): VehicleZones {
  const adopted = withWatch(zones, adoptZones(zones.watch, zones.set, set));
  return { ...adopted, set, isCrowdReported: false };
}

/** The zone that the vehicle is in, for events: the last one that it arrived at, a place rather than a corridor. */
function presentZone({ set, watch }: VehicleZones): Pick<FleetEvent, 'geozoneID'> {
  if (set === null || watch.inside.length === 0) return {};
  const zones = watch.inside.flatMap((id) => zoneOf(set, id) ?? []);
  const geozoneID = (zones.findLast(({ zone }) => zone.type !== 2) ?? zones.at(-1))?.id;
  return geozoneID === undefined ? {} : { geozoneID };
}

/**
 * Switches to the zones of a configuration. Removed zones make no departure, and a new one that holds the vehicle no
 * arrival: entering is crossing the border.
 */
function applyZones(context: StepContext, zones: readonly ZoneConfig[]): void {
  const set = createZones(zones);
  put(context, { zones: withSet(context.state.zones, set) });
  log(context, 'info', 'geozones', { zones: set.zones.length, fingerprint: set.fingerprint });
}

/** Two fixes of one step can make some requests each; older ones than these would not be carried out. */
const requestsMost = 8;

/** The event of a border that was crossed before the start: only what the record knows of it. */
function carriedEvent(context: StepContext, { utcMs, latitude, longitude }: Mark): StampedEvent {
  const origin = bestOrigin(context.state.time);
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
  context: StepContext,
  marks: readonly Mark[],
  held: ReadonlyMap<Mark, StampedEvent>,
): ReadonlyMap<Mark, StampedEvent> {
  if (marks.length === 0) return held.size === 0 ? held : new Map();
  const { code } = statusCodes.GEOFENCE_ARRIVE;
  return new Map(
    marks.map((mark) => {
      if (mark.isCarried) return [mark, carriedEvent(context, mark)];
      return [mark, held.get(mark) ?? stamp(context, { statusCode: code }, mark.atMs ?? context.now.monoMs)];
    }),
  );
}

function circumstances(context: StepContext): AutomationContext {
  const { profile } = context.config;
  return {
    // Without a panic input it cannot have been pressed.
    panic: profile.inputs.panic === undefined ? false : evidenceOf(context).panic.value,
    isSuspect: wasSuspectAt(context.state.evidence.gnss, context.now.monoMs),
    fitted: featureNames.filter((name) => profile.relays[name] !== undefined),
  };
}

function commitCrossings(
  context: StepContext,
  reports: readonly CrossingReport[],
  held: ReadonlyMap<Mark, StampedEvent>,
): void {
  const events = reports.map(({ crossing, attributes }): StampedEvent => {
    const { mark, zone } = crossing;
    const { event, priority } = held.get(mark) ?? carriedEvent(context, mark);
    const statusCode = crossingCode(crossing);
    log(context, 'info', 'geozone', { geozoneID: zone.id, ...attributes, is: mark.to });
    return { event: { ...event, statusCode, geozoneID: zone.id, attributes }, priority };
  });
  commitNow(context, events);
}

function reportCrowd(context: StepContext, isCrowded: boolean): void {
  if (!isCrowded || context.state.zones.isCrowdReported) return;
  put(context, { zones: { ...context.state.zones, isCrowdReported: true } });
  const { tracked, examined } = zoneWatchLimits;
  const reason = `more geozones at one place than are watched: ${tracked} at once, ${examined} looked at`;
  log(context, 'warn', 'geozones', { reason });
  record(context, {
    statusCode: statusCodes.INTERNAL_FAILURE.code,
    attributes: { part: 'zones', reason },
  });
}

/**
 * Compares a plausible fix with the zones. Events of crossings are committed at once,
 * together with the record, so that after a crash either both are there or neither. What zones ask for waits in the state for
 * `requestAutomations`.
 */
function watchZones(context: StepContext, fix: Fix): void {
  const { zones, settings, time } = context.state;
  if (zones.set === null) return;
  const utcMs = utcMsAt(time, fix.atMonoMs);
  const ignition = sensed(context.state, 'ignition');
  const offSinceMs = ignition.value === false ? ignition.sinceMs : null;
  const step = stepZones(zones.watch, { set: zones.set, fix, utcMs, settings: settings.zones, offSinceMs });
  const marks = [...step.watch.marks, ...step.crossings.map(({ mark }) => mark)];
  // Stamped while the vehicle still is where it was before: the zone of a position is the one that it came from.
  const held = holdEvents(context, marks, zones.held);
  const { reports, requests } = decideAutomations(step.crossings, circumstances(context), step.drifts);
  put(context, {
    zones: {
      ...withWatch(zones, step.watch),
      held: keepOpen(step.watch, held),
      requests: [...zones.requests, ...requests].slice(-requestsMost),
      crossed: [...zones.crossed, ...[...step.crossings, ...step.drifts, ...step.adopted].map(sideOf)],
    },
  });
  reportCrowd(context, step.isCrowded);
  for (const { zone, mark } of step.adopted)
    log(context, 'info', 'geozone', { geozoneID: zone.id, is: mark.to, reason: 'the zones changed' });
  if (reports.length + step.adopted.length === 0) return;
  if (reports.length > 0) commitCrossings(context, reports, held);
  // The position of this very fix is reported too: with the zone that the vehicle is in now, or with none.
  put(context, { reporting: { ...context.state.reporting, lastReport: null } });
}

function keepOpen(
  { marks }: ZoneWatch,
  held: ReadonlyMap<Mark, StampedEvent>,
): ReadonlyMap<Mark, StampedEvent> {
  if (marks.length === held.size) return held;
  const open = new Set(marks);
  return new Map([...held].filter(([mark]) => open.has(mark)));
}

/** Ends what the sides ask for that the vehicle has left in this step, and passes on the requests of zones, safe ones first. */
function requestAutomations(context: StepContext): void {
  const { requests, crossed } = context.state.zones;
  if (requests.length === 0 && crossed.length === 0) return;
  put(context, { zones: { ...context.state.zones, requests: [], crossed: [] } });
  for (const side of crossed) reviewCommands(context, { kind: 'local', crossed: side });
  for (const request of requests) requestLocal(context, { ...request, source: 'zone' });
}

export const zonesModule: VehicleModule = {
  create({ rows }) {
    const watch = resumeZones(rows['zones']);
    const record = recordZones(watch);
    const none = { set: null, held: new Map(), requests: [], crossed: [], isCrowdReported: false };
    return { zones: { ...none, watch, record } };
  },
  rows: ({ zones }) => ({ zones: zones.record }),
  configured: applyZones,
  fix: watchZones,
  settled: requestAutomations,
  place: ({ zones }) => presentZone(zones),
};
