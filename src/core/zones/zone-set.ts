// The geozones that a vehicle watches, prepared once per configuration: the index, the numbers by id, and a
// fingerprint that distinguishes a changed zone from a repeated one. Pure; never changed once it is made.
import { type Zone, zoneBox } from '../geo/geozone.ts';
import type { ZoneConfig } from '../geo/zone-config.ts';
import { createZoneIndex, type ZoneIndex } from './zone-index.ts';

export interface ZoneSet {
  readonly zones: readonly ZoneConfig[];
  readonly numbers: ReadonlyMap<string, number>;
  readonly index: ZoneIndex;
  /** Fingerprint of each zone's id and place. Its requests are left out, as they move no border. */
  readonly prints: Uint32Array;
  /** Fingerprint of all zones, whatever their order. */
  readonly fingerprint: string;
}

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;
const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);

/** FNV-1a of 32 bits over UTF-16 units and 32-bit words: detects changes, and is no protection against forgery. */
function printOf(id: string, { type, radiusM, points }: Zone): number {
  let hash = offsetBasis;
  const add = (value: number): void => {
    double[0] = value;
    hash = Math.imul(hash ^ (words[0] ?? 0), prime);
    hash = Math.imul(hash ^ (words[1] ?? 0), prime);
  };
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), prime);
  add(type);
  add(radiusM);
  for (const { latitude, longitude } of points) {
    add(latitude);
    add(longitude);
  }
  return hash >>> 0;
}

/**
 * Prepares zones for watching. For 10,000 zones of 8 points this takes some tens of milliseconds, so it is done
 * when a configuration arrives, never when a fix does.
 * @param zones as `decodeZones` gives them: no id twice.
 */
export function createZones(zones: readonly ZoneConfig[]): ZoneSet {
  const prints = Uint32Array.from(zones, ({ id, zone }) => printOf(id, zone));
  let [sum, mixed] = [0, 0];
  for (const print of prints) {
    sum = (sum + print) >>> 0;
    mixed = (mixed ^ Math.imul(print, 0x9e3779b1)) >>> 0;
  }
  return {
    zones,
    numbers: new Map(zones.map(({ id }, number) => [id, number])),
    index: createZoneIndex(zones.map(({ zone }) => zoneBox(zone))),
    prints,
    fingerprint: `${zones.length}-${sum.toString(16)}-${mixed.toString(16)}`,
  };
}

/** The zone of this id, or null. */
export function zoneOf(set: ZoneSet, id: string): ZoneConfig | null {
  return set.zones[set.numbers.get(id) ?? -1] ?? null;
}

/** The print of the zone of this id; null when there is none. */
export function zoneFingerprint(set: ZoneSet, id: string): number | null {
  return set.prints[set.numbers.get(id) ?? -1] ?? null;
}
