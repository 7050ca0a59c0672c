// The one place where the geozones of an account become zones of its vehicles. All vehicles of an account get the same: a
// geozone belongs to the account and to no device or group.
import { encodeZones as encodeWire } from '../../src/core/geo/zone-config.ts';
import { type GeozoneRow, watchedZones } from '../store/geozones/geozones.ts';

/** Geozones in the form of the wire; those that no vehicle can be in are left out. */
export type EncodeZones = (rows: readonly GeozoneRow[]) => readonly unknown[];

export const encodeZones: EncodeZones = (rows) => encodeWire(watchedZones(rows));
