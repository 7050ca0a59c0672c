// Geozones in their compact form in the signed configuration: a list of numbers a zone, 40 to 160 characters of JSON.
// The decoder never throws, repairs nothing, and accepts all zones or none.
import type { ErrorDetail } from '../errors.ts';
import { isName } from '../ids.ts';
import type { Point } from './geo.ts';
import {
  isSetPoint,
  vehicleSwitches,
  type Zone,
  type ZoneSwitch,
  type ZoneType,
  zoneLimits,
} from './geozone.ts';

/** A geozone of the account as a vehicle needs it: its place and its requests. */
export interface ZoneConfig {
  readonly id: string;
  readonly zone: Zone;
  /** In the order of `vehicleSwitches`. */
  readonly switches: readonly ZoneSwitch[];
}

export const zoneConfigLimits = {
  /** Zones of one vehicle; the most that an account may have. */
  zones: 10_000,
  /** Faults that are named; the first ones are enough to find the rest. */
  faults: 20,
} as const;

/** Parts of a degree: the five decimals that the service keeps, 1.1 m. */
const perDegree = 1e5;
const headMembers = 4;

/**
 * `[id, type, radius in m, switches as bits, lat1, lng1, lat2, lng2 ...]`: bit n is `vehicleSwitches[n]`, coordinates in 1e-5
 * degrees, only points that are set.
 */
export type WireZone = readonly (string | number)[];

export type ZonesVerdict =
  | { readonly kind: 'ok'; readonly zones: readonly ZoneConfig[] }
  | { readonly kind: 'faults'; readonly faults: readonly ErrorDetail[] };

/** Writes zones for the signed configuration, in the order given. Coordinates are rounded to 1e-5 degrees. */
export function encodeZones(zones: readonly ZoneConfig[]): readonly WireZone[] {
  return zones.map(({ id, zone, switches }) => {
    const bits = vehicleSwitches.reduce(
      (sum, name, bit) => (switches.includes(name) ? sum + 2 ** bit : sum),
      0,
    );
    const points = zone.points
      .filter(isSetPoint)
      .flatMap(({ latitude, longitude }) => [
        Math.round(latitude * perDegree),
        Math.round(longitude * perDegree),
      ]);
    return [id, zone.type, zone.radiusM, bits, ...points];
  });
}

const isWithin = (value: unknown, low: number, high: number): value is number =>
  Number.isInteger(value) && Number(value) >= low && Number(value) <= high;

function headFault([id, type, radiusM, bits]: readonly unknown[]): string | null {
  if (typeof id !== 'string' || !isName(id)) return 'the id must be a name of 1 to 64 characters';
  if (!isWithin(type, 0, 4)) return 'the type must be 0 to 4';
  if (!isWithin(radiusM, zoneLimits.radiusLeastM, zoneLimits.radiusMostM))
    return `the radius must be whole metres, ${zoneLimits.radiusLeastM} to ${zoneLimits.radiusMostM}`;
  return isWithin(bits, 0, 2 ** vehicleSwitches.length - 1) ? null : 'the switches are none that we know';
}

function zoneFaultOf(entry: unknown): string | null {
  if (!Array.isArray(entry)) return 'must be a list';
  const list: readonly unknown[] = entry;
  const coordinates = list.length - headMembers;
  if (coordinates < 0) return 'id, type, radius and switches are needed';
  if (coordinates % 2 !== 0) return 'a point has one coordinate only';
  if (coordinates / 2 > zoneLimits.points) return `has more than ${zoneLimits.points} points`;
  const fault = headFault(list);
  if (fault !== null) return fault;
  for (let at = headMembers; at < list.length; at += 2) {
    if (!isWithin(list[at], -90 * perDegree, 90 * perDegree)) return 'a latitude is out of range';
    if (!isWithin(list[at + 1], -180 * perDegree, 180 * perDegree)) return 'a longitude is out of range';
  }
  return null;
}

/** Zones have few different sets of actions, so equal lists are shared: 10,000 zones hold a handful of them. */
function createSwitchLists(): (bits: number) => readonly ZoneSwitch[] {
  const known = new Map<number, readonly ZoneSwitch[]>();
  return (bits) => {
    const found = known.get(bits) ?? vehicleSwitches.filter((_name, bit) => (bits & (2 ** bit)) !== 0);
    known.set(bits, found);
    return found;
  };
}

function pointsOf(list: readonly unknown[]): readonly Point[] {
  const points: Point[] = [];
  for (let at = headMembers; at < list.length; at += 2)
    points.push({ latitude: Number(list[at]) / perDegree, longitude: Number(list[at + 1]) / perDegree });
  return points;
}

/**
 * Decodes the zones of a (verified) configuration. A zone that can never contain a point (too few corners) is
 * accepted: it may be unfinished. A duplicate id is a fault, for a vehicle remembers zones by id.
 * @returns all zones, or the faults of the first ones, each with a JSON pointer into the list.
 */
export function decodeZones(value: unknown): ZonesVerdict {
  if (!Array.isArray(value)) return { kind: 'faults', faults: [{ pointer: '', message: 'must be a list' }] };
  const entries: readonly unknown[] = value;
  if (entries.length > zoneConfigLimits.zones) {
    const message = `has ${entries.length} zones, more than ${zoneConfigLimits.zones}`;
    return { kind: 'faults', faults: [{ pointer: '', message }] };
  }
  const faults: ErrorDetail[] = [];
  const zones: ZoneConfig[] = [];
  const ids = new Set<string>();
  const switchesOf = createSwitchLists();
  for (const [index, entry] of entries.entries()) {
    const list = entry as readonly unknown[];
    const fault = zoneFaultOf(entry) ?? (ids.has(String(list[0])) ? 'the id stands twice in the list' : null);
    if (fault !== null) {
      faults.push({ pointer: `/${index}`, message: fault });
      if (faults.length >= zoneConfigLimits.faults) break;
      continue;
    }
    const id = String(list[0]);
    ids.add(id);
    const zone: Zone = {
      type: Number(list[1]) as ZoneType,
      radiusM: Number(list[2]),
      points: pointsOf(list),
    };
    zones.push({ id, zone, switches: switchesOf(Number(list[3])) });
  }
  return faults.length > 0 ? { kind: 'faults', faults } : { kind: 'ok', zones };
}
