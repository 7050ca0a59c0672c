// Fixes, zones and drives for the tests of geozones on the vehicle, and a slow second opinion on arrivals and departures: it
// looks at the whole drive at once, zone by zone, in runs on one side of the border, where the machine goes fix by fix.
import type { Fix } from '../../../agent/core/gnss/epochs.ts';
import { recordZones, resumeZones } from '../../../agent/core/zones/zone-record.ts';
import { earthRadiusM, type Point, radians } from '../../../src/core/geo/geo.ts';
import { type ZoneSwitch, type ZoneType, zoneDepthM } from '../../../src/core/geo/geozone.ts';
import type { ZoneConfig } from '../../../src/core/geo/zone-config.ts';
import { standardSettings } from '../../../src/core/settings/settings.ts';
import type { ZonesSettings } from '../../../src/core/settings/zones.ts';
import type { ZoneSet } from '../../../src/core/zones/zone-set.ts';
import {
  adoptZones,
  createZoneWatch,
  stepZones,
  type ZoneWatch,
} from '../../../src/core/zones/zone-watch.ts';

export const startUtcMs = Date.UTC(2026, 11, 1);
const degreeM = radians(1) * earthRadiusM;
export const settings: ZonesSettings = standardSettings.zones;

/** A place so many metres from another; good for some km away from the poles. */
export function away(from: Point, northM: number, eastM: number): Point {
  return {
    latitude: from.latitude + northM / degreeM,
    longitude: from.longitude + eastM / (degreeM * Math.cos(radians(from.latitude))),
  };
}

/** An honest fix at a place, `s` seconds into the drive. */
export function fixAt(s: number, at: Point, over: Partial<Fix> = {}): Fix {
  return {
    utcMs: startUtcMs + s * 1000,
    atMonoMs: s * 1000,
    latitude: at.latitude,
    longitude: at.longitude,
    altitudeM: 90,
    speedKmh: 36,
    headingDeg: 0,
    hdop: 1,
    satellites: 9,
    dimension: 3,
    mode: 'A',
    rmcValid: true,
    doubts: [],
    ...over,
  };
}

export function zone(
  id: string,
  points: readonly Point[],
  over: {
    readonly type?: ZoneType;
    readonly radiusM?: number;
    readonly switches?: readonly ZoneSwitch[];
  } = {},
): ZoneConfig {
  const { type = 0, radiusM = 100, switches = [] } = over;
  return { id, zone: { type, radiusM, points }, switches };
}

export interface Told {
  readonly is: 'arrive' | 'depart';
  readonly id: string;
  /** When the border was crossed, and when that was certain; seconds into the drive. */
  readonly crossedS: number;
  readonly certainS: number;
  readonly cause: string;
}

/** A vehicle that was compared with these zones before and was in none. */
export function watching(set: ZoneSet): ZoneWatch {
  return { ...createZoneWatch(), compared: set.fingerprint };
}

/**
 * Drives through zones with the machine.
 * @param given.restartsAt numbers of the fixes before which the agent starts anew with what its record holds.
 */
export function drive(
  set: ZoneSet,
  fixes: readonly Fix[],
  given: {
    readonly from?: ZoneWatch;
    readonly restartsAt?: ReadonlySet<number>;
    readonly settings?: ZonesSettings;
    readonly offSinceMs?: number;
  } = {},
): { readonly told: readonly Told[]; readonly watch: ZoneWatch } {
  let watch = given.from ?? watching(set);
  const told: Told[] = [];
  for (const [number, fix] of fixes.entries()) {
    // Monotonic time begins anew with each start here.
    if (given.restartsAt?.has(number) === true)
      watch = adoptZones(resumeZones(JSON.parse(JSON.stringify(recordZones(watch)))), null, set);
    const { utcMs } = fix;
    const { offSinceMs = null } = given;
    const step = stepZones(watch, { set, fix, utcMs, settings: given.settings ?? settings, offSinceMs });
    watch = step.watch;
    for (const { zone, mark } of step.crossings) {
      told.push({
        is: mark.to === 'inside' ? 'arrive' : 'depart',
        id: zone.id,
        crossedS: ((mark.utcMs ?? 0) - startUtcMs) / 1000,
        certainS: fix.atMonoMs / 1000,
        cause: mark.cause,
      });
    }
  }
  return { told, watch };
}

export type Plain = Omit<Told, 'cause'>;
export const plain = (told: readonly Told[]): readonly Plain[] =>
  told
    .map(({ is, id, crossedS, certainS }) => ({ is, id, crossedS, certainS }))
    .sort((a, b) => a.certainS - b.certainS || a.id.localeCompare(b.id) || a.is.localeCompare(b.is));

/** One zone over a whole drive: cuts it into runs on one side of the border and asks of each whether it counts. */
function secondOpinionOn(config: ZoneConfig, fixes: readonly Fix[], enterM: number): readonly Plain[] {
  const depths = fixes.map((fix) => zoneDepthM(config.zone, fix));
  const found: Plain[] = [];
  let isInside = false;
  for (let first = 0, end = 0; first < fixes.length; first = end) {
    const isOn = (depths[first] ?? 0) >= 0;
    for (end = first; end < fixes.length && (depths[end] ?? 0) >= 0 === isOn; ) end += 1;
    if (isOn === isInside) continue;
    const crossedS = (fixes[first]?.atMonoMs ?? 0) / 1000;
    const certain = fixes.slice(first, end).find((fix, at) => {
      const depthM = depths[first + at] ?? 0;
      const isDeep = isOn ? depthM >= enterM : depthM <= -settings.hysteresisM;
      return isDeep && fix.atMonoMs / 1000 - crossedS >= settings.dwellS;
    });
    if (certain === undefined) continue;
    isInside = isOn;
    found.push({
      is: isOn ? 'arrive' : 'depart',
      id: config.id,
      crossedS,
      certainS: certain.atMonoMs / 1000,
    });
  }
  return found;
}

/** @param enterM depth that counts as arrived, of all zones. */
export function secondOpinion(zones: readonly ZoneConfig[], fixes: readonly Fix[], enterM: number) {
  return zones
    .flatMap((config) => secondOpinionOn(config, fixes, enterM))
    .sort((a, b) => a.certainS - b.certainS || a.id.localeCompare(b.id) || a.is.localeCompare(b.is));
}
