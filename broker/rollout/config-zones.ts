// The one place where the geozones of an account become zones of its vehicles. All vehicles of an account get the same: a
// geozone belongs to the account and to no device or group.
import { zoneBox } from '../../src/core/geo/geozone.ts';
import { encodeZones as encodeWire } from '../../src/core/geo/zone-config.ts';
import { isId } from '../../src/core/ids.ts';
import type { GeozoneRow } from '../store/geozones/geozones.ts';

/** Geozones in the form of the wire; those that no vehicle can be in are left out. */
export type EncodeZones = (rows: readonly GeozoneRow[]) => readonly unknown[];

export const encodeZones: EncodeZones = (rows) =>
  encodeWire(
    rows
      .filter(({ geozoneID, zone }) => isId(geozoneID) && zoneBox(zone) !== null)
      .map(({ geozoneID, zone, switches }) => ({ id: geozoneID, zone, switches })),
  );
