// The vehicle and its geozones: compares each plausible fix with them, reports arrivals and departures, and passes
// on the requests of zones. It moves nothing itself: requests become commands, which the interlock decides on.
import { featureNames } from '../../../src/core/events/event.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { crossingCode } from '../../../src/core/zones/crossing.ts';
import type { ZoneSet } from '../../../src/core/zones/zone-set.ts';
import { type Mark, stepZones, type ZoneWatch, zoneWatchLimits } from '../../../src/core/zones/zone-watch.ts';
import { wasSuspectAt } from '../evidence/gnss-claim.ts';
import type { Fix } from '../gnss/epochs.ts';
import { type StampedEvent } from '../outbox/stamped-event.ts';
import type { LocalCrossing } from '../protection/command-intake.ts';
import { bestOrigin, upMsAt } from '../timekeeping.ts';
import {
  type AutomationContext,
  type CrossingReport,
  decideAutomations,
  sideOf,
  type ZoneRequest,
} from '../zones/zone-automation.ts';
import { withSet, withWatch } from '../zones/zone-state.ts';
import { commitNow, evidenceOf, log, put, record, type StepContext, sensed, stamp } from './vehicle-state.ts';

/** `requestLocal` and `reviewCommands` of the vehicle's commands. */
export interface ZoneOrders {
  request(context: StepContext, request: ZoneRequest & { readonly source: 'zone' }): void;
  review(context: StepContext, crossing: LocalCrossing): void;
}

/**
 * Switches to the zones of a configuration. Removed zones make no departure, and a new one that holds the vehicle no
 * arrival: entering is crossing the border.
 * @param set from `createZones`, which takes its time; make it before the step.
 */
export function applyZones(context: StepContext, set: ZoneSet): void {
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
 * Compares a plausible fix with the zones; call it once `state.fix` is this fix. Events of crossings are committed at once,
 * together with the record, so that after a crash either both are there or neither. Requests of zones wait in the state for
 * `requestAutomations`.
 */
export function watchZones(context: StepContext, fix: Fix): void {
  const { zones, settings, time } = context.state;
  if (zones.set === null) return;
  const origin = bestOrigin(time);
  const utcMs = origin === null ? null : origin.originMs + upMsAt(time, fix.atMonoMs);
  const ignition = sensed(context.state, 'ignition');
  const offSinceMs = ignition.value === false ? ignition.sinceMs : null;
  const step = stepZones(zones.watch, { set: zones.set, fix, utcMs, settings: settings.zones, offSinceMs });
  const marks = [...step.watch.marks, ...step.crossings.map(({ mark }) => mark)];
  // Stamped before the vehicle changes zones: a position's zone is the one that it came from.
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

/** Ends the requests of sides that the vehicle has left in this step, and forwards those of zones, safe ones first. */
export function requestAutomations(context: StepContext, orders: ZoneOrders): void {
  const { requests, crossed } = context.state.zones;
  if (requests.length === 0 && crossed.length === 0) return;
  put(context, { zones: { ...context.state.zones, requests: [], crossed: [] } });
  for (const side of crossed) orders.review(context, { kind: 'local', crossed: side });
  for (const request of requests) orders.request(context, { ...request, source: 'zone' });
}
