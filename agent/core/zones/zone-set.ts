// The geozones that a vehicle watches, made ready once per configuration: the index, the numbers by id, and a print of each
// zone by which a change is told from the same zone sent again. Pure; never changed once it is made.
import { type Zone, zoneBox } from '../../../src/core/geozone.ts';
import type { ZoneConfig } from '../../../src/core/zone-config.ts';
import { createZoneIndex, type ZoneIndex } from './zone-index.ts';

export interface ZoneSet {
  readonly zones: readonly ZoneConfig[];
  readonly numbers: ReadonlyMap<string, number>;
  readonly index: ZoneIndex;
  /** Of each zone, its id and where it is; what it asks for is left out, for that moves no border. */
  readonly prints: Uint32Array;
  /** The same of all zones, whatever their order. */
  readonly fingerprint: string;
}

/** FNV-1a of 32 bits over UTF-16 units: tells changes apart, and guards against nobody. */
function printOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

function textOf(id: string, { type, radiusM, points }: Zone): string {
  return `${id} ${type} ${radiusM} ${points.map((point) => `${point.latitude},${point.longitude}`).join(' ')}`;
}

/**
 * Makes zones ready to be watched. For 10,000 zones this takes some ten milliseconds, so it is done when a configuration
 * comes, never when a fix does.
 * @param zones as `decodeZones` gives them: no id twice.
 */
export function createZones(zones: readonly ZoneConfig[]): ZoneSet {
  const prints = Uint32Array.from(zones, ({ id, zone }) => printOf(textOf(id, zone)));
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
export function zonePrint(set: ZoneSet, id: string): number | null {
  return set.prints[set.numbers.get(id) ?? -1] ?? null;
}
