// The one place where the vehicle's configuration meets its geozones: how zones are read and taken into use.
import type { DecodeZones } from '../../../src/core/config-content.ts';
import { decodeZones as decodeWire, type ZoneConfig } from '../../../src/core/zone-config.ts';
import type { Work } from '../vehicle/vehicle-state.ts';
import { applyZones as applySet } from '../vehicle/vehicle-zones.ts';
import { createZones } from '../zones/zone-set.ts';

/** A zone as the configuration carries it. */
export type ConfigZone = ZoneConfig;

/** Reads the zones of a configuration: all or none. Never throws. */
export const decodeZones: DecodeZones<ConfigZone> = (zones) => decodeWire(zones);

/** Exchanges all zones of the vehicle. Some tens of milliseconds of work for 10,000 zones, once per configuration and start. */
export function applyZones(work: Work, zones: readonly ConfigZone[]): void {
  applySet(work, createZones(zones));
}
