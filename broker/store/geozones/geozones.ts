// Statements on geozones. They belong to an account and to no device, so every statement takes the account. Optimistic lock: a
// zone is changed only at the version that was read.
import type { Point } from '../../../src/core/geo/geo.ts';
import {
  type Box,
  type Zone,
  type ZoneSwitch,
  type ZoneType,
  zoneBox,
} from '../../../src/core/geo/geozone.ts';
import type { ZoneConfig } from '../../../src/core/geo/zone-config.ts';
import { isId } from '../../../src/core/ids.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import { followed } from '../base/live-topic.ts';
import { jsonListOf, numberOf, readNumber, readTexts, textOf } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';
import { geozones } from '../schema/configs.ts';

/** Most geozones of one account. */
export const geozonesMost = 10_000;

export interface GeozoneKey {
  readonly accountID: string;
  readonly geozoneID: string;
}

/** Members of a geozone that users set. */
export interface GeozoneContent {
  readonly displayName: string;
  readonly description: string;
  /** All eight points, unset ones as 0, 0. */
  readonly zone: Zone;
  readonly switches: readonly ZoneSwitch[];
}

/** `points` as the column holds them; anything but pairs of numbers is dropped. */
export function pointsOf(row: Row): readonly Point[] {
  return jsonListOf(row, 'points').flatMap((pair) => {
    if (!Array.isArray(pair)) return [];
    const [latitude, longitude] = pair as readonly unknown[];
    return typeof latitude === 'number' && typeof longitude === 'number' ? [{ latitude, longitude }] : [];
  });
}

/** `points` for the column. */
export function pointsText(points: readonly Point[]): string {
  return JSON.stringify(points.map(({ latitude, longitude }) => [latitude, longitude]));
}

const zones = shape({
  ...geozones.columns,
  zone: (row): Zone => ({
    // The column is written from a `Zone` only.
    type: numberOf(row, 'type') as ZoneType,
    radiusM: numberOf(row, 'radius_m'),
    points: pointsOf(row),
  }),
});
export type GeozoneRow = Infer<typeof zones>;

/** A change of a geozone, with its author, box and time. */
interface GeozoneWrite {
  readonly key: GeozoneKey;
  readonly content: GeozoneContent;
  /** Null while nothing can be in the zone. */
  readonly box: Box | null;
  readonly atMs: number;
  /** Condition without which nothing is written. */
  readonly onlyIf: Statement;
}

/** Condition: the account is below its limit of geozones. */
function belowGeozoneLimit(accountID: string): Statement {
  return sql`(SELECT COUNT(*) FROM geozones WHERE account_id = ${accountID}) < ${geozonesMost}`;
}

/** Automations that cut an engine; safe ones (`...EngineOn`) are not among them. */
export const cuttingSwitches = [
  'arrivalEngineOff',
  'departureEngineOff',
] as const satisfies readonly ZoneSwitch[];

/** Automations that cut an engine or unlock the cargo. */
export const restrictingSwitches = [
  ...cuttingSwitches,
  'arrivalCargoUnlock',
  'departureCargoUnlock',
] as const satisfies readonly ZoneSwitch[];

// The column holds quoted names of fixed settings, no user text.
const isCutting = sql`(switches LIKE '%"arrivalEngineOff"%' OR switches LIKE '%"departureEngineOff"%')`;

/** Condition: no geozone of the account asks for an engine cut. */
export function isWithoutCuts(accountID: string): Statement {
  return sql`NOT EXISTS (SELECT 1 FROM geozones WHERE account_id = ${accountID} AND ${isCutting})`;
}

/** Some geozones of the account that ask for an engine cut, by id. */
export function listCuttingZones(db: Database, accountID: string): Promise<readonly string[]> {
  return readTexts(db)(sql`SELECT geozone_id FROM geozones
      WHERE account_id = ${accountID} AND ${isCutting} ORDER BY geozone_id LIMIT 10`);
}

/** Condition: false where a zone would let one user cut engines in an account that requires a second user. */
export function maySwitch({ accountID }: GeozoneKey, switches: readonly ZoneSwitch[]): Statement {
  if (!cuttingSwitches.some((name) => switches.includes(name))) return sql`1 = 1`;
  return sql`EXISTS (SELECT 1 FROM accounts WHERE account_id = ${accountID} AND needs_approval = 0)`;
}

/** Condition: there is no such geozone and the account is below its limit. */
export function mayInsertGeozone({ accountID, geozoneID }: GeozoneKey): Statement {
  return sql`NOT EXISTS (SELECT 1 FROM geozones WHERE account_id = ${accountID} AND geozone_id = ${geozoneID})
    AND ${belowGeozoneLimit(accountID)}`;
}

/** Condition: the geozone is at the version that was read. */
export function isGeozoneAt({ accountID, geozoneID }: GeozoneKey, version: number): Statement {
  return sql`EXISTS (SELECT 1 FROM geozones
    WHERE account_id = ${accountID} AND geozone_id = ${geozoneID} AND version = ${version})`;
}

/** Creates a geozone; changes 0 rows when the id is taken, the limit is reached, or `maySwitch` fails. */
export function insertGeozone({ key, content, box, atMs, onlyIf }: GeozoneWrite): Statement {
  const { displayName, description, zone, switches } = content;
  return followed(sql`
    INSERT INTO geozones (account_id, geozone_id, display_name, description, type, radius_m, points, switches,
      south, north, west, east, version, changed_ms)
    SELECT account_id, ${key.geozoneID}, ${displayName}, ${description}, ${zone.type}, ${zone.radiusM},
      ${pointsText(zone.points)}, ${JSON.stringify(switches)}, ${box?.south ?? null}, ${box?.north ?? null},
      ${box?.west ?? null}, ${box?.east ?? null}, 1, ${atMs}
    FROM accounts WHERE account_id = ${key.accountID} AND ${belowGeozoneLimit(key.accountID)}
      AND ${maySwitch(key, switches)} AND ${onlyIf}
    ON CONFLICT (account_id, geozone_id) DO NOTHING`);
}

/** Changes a geozone; 0 rows when it is deleted or no longer at `version`, or when `maySwitch` fails. */
export function updateGeozone({ key, content, box, atMs, onlyIf }: GeozoneWrite, version: number): Statement {
  const { displayName, description, zone, switches } = content;
  return followed(sql`
    UPDATE geozones SET display_name = ${displayName}, description = ${description}, type = ${zone.type},
      radius_m = ${zone.radiusM}, points = ${pointsText(zone.points)}, switches = ${JSON.stringify(switches)},
      south = ${box?.south ?? null}, north = ${box?.north ?? null}, west = ${box?.west ?? null},
      east = ${box?.east ?? null}, version = version + 1, changed_ms = ${atMs}
    WHERE account_id = ${key.accountID} AND geozone_id = ${key.geozoneID} AND version = ${version}
      AND ${maySwitch(key, switches)} AND ${onlyIf}`);
}

/** Condition: the geozone exists. */
export function isGeozone({ accountID, geozoneID }: GeozoneKey): Statement {
  return sql`EXISTS (SELECT 1 FROM geozones WHERE account_id = ${accountID} AND geozone_id = ${geozoneID})`;
}

/** Deletes a geozone under a condition; 0 rows when there is none. */
export function deleteGeozone({ accountID, geozoneID }: GeozoneKey, onlyIf: Statement): Statement {
  return followed(
    sql`DELETE FROM geozones WHERE account_id = ${accountID} AND geozone_id = ${geozoneID} AND ${onlyIf}`,
  );
}

/** One geozone, or null. */
export function findGeozone(db: Database, key: GeozoneKey): Promise<GeozoneRow | null> {
  return zones.first(db)(
    sql`SELECT * FROM geozones WHERE account_id = ${key.accountID} AND geozone_id = ${key.geozoneID}`,
  );
}

/** Where a listing of geozones goes on. */
export interface GeozonePage {
  readonly accountID: string;
  /** Last geozone id already read, exclusive; '' from the start. */
  readonly after: string;
  readonly limit: number;
}

/** Geozones by id. */
export function listGeozones(db: Database, page: GeozonePage): Promise<readonly GeozoneRow[]> {
  return zones.all(db)(sql`
    SELECT * FROM geozones WHERE account_id = ${page.accountID} AND geozone_id > ${page.after}
    ORDER BY geozone_id LIMIT ${page.limit}`);
}

/** Geozones as zones that are watched; those that no vehicle can be in are left out. */
export const watchedZones = (rows: readonly GeozoneRow[]): readonly ZoneConfig[] =>
  rows
    .filter(({ geozoneID, zone }) => isId(geozoneID) && zoneBox(zone) !== null)
    .map(({ geozoneID, zone, switches }) => ({ id: geozoneID, zone, switches }));

/** Geozones `offset`..`offset + limit` in the order of their ids; one index walks to the offset. */
export function listGeozonesFrom(
  db: Database,
  page: { readonly accountID: string; readonly offset: number; readonly limit: number },
): Promise<readonly GeozoneRow[]> {
  return zones.all(db)(sql`
    SELECT * FROM geozones WHERE account_id = ${page.accountID}
    ORDER BY geozone_id LIMIT ${page.limit} OFFSET ${page.offset}`);
}

/** Number of geozones of the account. */
export async function countGeozones(db: Database, accountID: string): Promise<number> {
  const count = sql`SELECT COUNT(*) AS geozones FROM geozones WHERE account_id = ${accountID}`;
  return (await readNumber(db)(count)) ?? 0;
}

/**
 * Ids of the geozones whose bounding box contains the point, in order; `zoneContains` decides about the zone itself. One
 * walk along the index of boxes; no row of the table is read.
 */
export async function listGeozoneIDsAbout(
  db: Database,
  accountID: string,
  at: Point,
): Promise<readonly string[]> {
  const { latitude } = at;
  // One meridian, one number: boxes begin and end at -180.
  const longitude = at.longitude === 180 ? -180 : at.longitude;
  const rows = await db.read(sql`
    SELECT geozone_id FROM geozones
    WHERE account_id = ${accountID} AND south <= ${latitude} AND north >= ${latitude}
      AND ((west <= ${longitude} AND east >= ${longitude})
        OR (west > east AND (west <= ${longitude} OR east >= ${longitude})))`);
  return rows.map((row) => textOf(row, 'geozone_id')).sort();
}

/** Ids of one read. */
export const idsMost = 200;

/** The geozones among `geozoneIDs`, at most 200 of them, by id. */
export async function listGeozonesOf(
  db: Database,
  accountID: string,
  geozoneIDs: readonly string[],
): Promise<readonly GeozoneRow[]> {
  if (geozoneIDs.length === 0) return [];
  const ids = valueList(geozoneIDs.slice(0, idsMost));
  return zones.all(db)(sql`
    SELECT * FROM geozones WHERE account_id = ${accountID} AND geozone_id IN (${ids}) ORDER BY geozone_id`);
}

/** Display names of a geozone. */
export interface ZoneName {
  readonly displayName: string;
  readonly description: string;
}

/** Names of the geozones among `geozoneIDs`. */
export async function listZoneNames(
  db: Database,
  accountID: string,
  geozoneIDs: readonly string[],
): Promise<ReadonlyMap<string, ZoneName>> {
  const names = new Map<string, ZoneName>();
  for (let first = 0; first < geozoneIDs.length; first += idsMost) {
    const ids = valueList(geozoneIDs.slice(first, first + idsMost));
    const rows = await db.read(sql`SELECT geozone_id, display_name, description FROM geozones
      WHERE account_id = ${accountID} AND geozone_id IN (${ids})`);
    for (const row of rows) {
      names.set(textOf(row, 'geozone_id'), {
        displayName: textOf(row, 'display_name'),
        description: textOf(row, 'description'),
      });
    }
  }
  return names;
}
