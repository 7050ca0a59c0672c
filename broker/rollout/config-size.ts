// Whether a change still fits into a configuration, so that the user gets an error at once and no vehicle is left without a
// configuration. It looks closely only at accounts whose geozones come near the limit.

import type { SettingsChange } from '../../src/core/settings/change.ts';
import { packedBytesMost } from '../../src/core/wire/config-message.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { numberOf } from '../store/base/row.ts';
import type { GeozoneRow } from '../store/geozones/geozones.ts';
import { packConfig, readZonesText } from './config-compiler.ts';
import type { EncodeZones } from './config-zones.ts';

/** More than any frame about the members of one zone takes. */
const zoneFrameBytes = 200;
/** New zones are weighed together: each single one would mean to read all of them each time. */
const weighedTogether = 32;
/** More than so many zones take, and any choice of settings. */
const spareBytes = 24 * 1024;

interface Bound {
  readonly zones: number;
  /** Bytes that they take at most: a zone as a vehicle gets it is never longer than its row and a frame. */
  readonly bytes: number;
  /** The zone in question is there already. */
  readonly isKnown: boolean;
}

async function boundOf(db: Database, accountID: string, geozoneID: string): Promise<Bound> {
  const [row] = await db.read(sql`
    SELECT COUNT(*) AS zones, COALESCE(SUM(OCTET_LENGTH(geozone_id) + LENGTH(points) + LENGTH(switches)), 0) AS bytes,
      COALESCE(SUM(CASE WHEN geozone_id = ${geozoneID} THEN 1 ELSE 0 END), 0) AS known
    FROM geozones WHERE account_id = ${accountID}`);
  const zones = row === undefined ? 0 : numberOf(row, 'zones');
  const bytes = row === undefined ? 0 : numberOf(row, 'bytes');
  const isKnown = row !== undefined && numberOf(row, 'known') > 0;
  return { zones, bytes: zones * zoneFrameBytes + bytes, isKnown };
}

export interface SizeRequest {
  readonly accountID: string;
  readonly settings: SettingsChange;
  /** A geozone as it is to be. */
  readonly zone?: GeozoneRow;
}

/** Why this could not be sent to a vehicle, as text; null when it can. */
export async function configSizeFault(
  db: Database,
  encode: EncodeZones,
  request: SizeRequest,
): Promise<string | null> {
  const { accountID, settings, zone } = request;
  const bound = await boundOf(db, accountID, zone?.geozoneID ?? '');
  if (bound.bytes + spareBytes < packedBytesMost) return null;
  if (zone !== undefined && !bound.isKnown && bound.zones % weighedTogether !== 0) return null;
  const instead = zone === undefined ? {} : { instead: zone };
  const zonesText = await readZonesText(db, encode, { accountID, ...instead });
  const verdict = await packConfig(settings, zonesText, spareBytes);
  return verdict.kind === 'fault' ? verdict.fault : null;
}
