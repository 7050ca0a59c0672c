// The geozones within the state of a vehicle: what it watches, what is kept of it, and pending crossings. Types and
// small pure helpers; the transitions are in `vehicle-zones.ts`.
import type { FleetEvent } from '../../../src/core/events/event.ts';
import { type ZoneSet, zoneOf } from '../../../src/core/zones/zone-set.ts';
import { adoptZones, type Mark, type ZoneWatch } from '../../../src/core/zones/zone-watch.ts';
import { type StampedEvent } from '../outbox/stamped-event.ts';
import type { ZoneRequest, ZoneSide } from './zone-automation.ts';
import { recordZones, resumeZones, type ZoneRecord } from './zone-record.ts';

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

/** @param kept the stored record from before the start, as it was read; anything else counts as none. */
export function createVehicleZones(kept?: unknown): VehicleZones {
  const watch = resumeZones(kept);
  return {
    set: null,
    watch,
    held: new Map(),
    requests: [],
    crossed: [],
    isCrowdReported: false,
    record: recordZones(watch),
  };
}

/** The zones with another watch; the record is a new one only if something in it changed. */
export function withWatch(zones: VehicleZones, watch: ZoneWatch): VehicleZones {
  const { inside, marks, compared } = zones.watch;
  const isSame = watch.inside === inside && watch.marks === marks && watch.compared === compared;
  return { ...zones, watch, record: isSame ? zones.record : recordZones(watch) };
}

/** The zones after a new configuration. */
export function withSet(zones: VehicleZones, set: ZoneSet): VehicleZones {
  const adopted = withWatch(zones, adoptZones(zones.watch, zones.set, set));
  return { ...adopted, set, isCrowdReported: false };
}

/** The zone that the vehicle is in, for events: the last one that it arrived at, a place rather than a corridor. */
export function presentZone({ set, watch }: VehicleZones): Pick<FleetEvent, 'geozoneID'> {
  if (set === null || watch.inside.length === 0) return {};
  const zones = watch.inside.flatMap((id) => zoneOf(set, id) ?? []);
  const geozoneID = (zones.findLast(({ zone }) => zone.type !== 2) ?? zones.at(-1))?.id;
  return geozoneID === undefined ? {} : { geozoneID };
}
