// Geozones as callers see them: one, all of an account page by page, and the names that event records carry. Reads only;
// it stands apart from the operations so that those of devices and events can use it.
import { AppError } from '../../../src/core/errors.ts';
import type { Point } from '../../../src/core/geo.ts';
import { zoneContains, zoneFault } from '../../../src/core/geozone.ts';
import { roleCovers } from '../../core/session.ts';
import {
  type GeozoneRow,
  idsMost,
  listGeozoneIDsAbout,
  listGeozones,
  listGeozonesFrom,
  listGeozonesOf,
  listZoneNames,
  type ZoneName,
} from '../../store/geozones.ts';
import type { ApiServices, Caller, PagedRecord, Pages } from '../operation.ts';
import { ok } from '../shapes.ts';
import { features, sensorWords } from '../views.ts';
import { pointText } from './coordinates.ts';
import type { GeozoneView } from './geozone-shapes.ts';

/** The answer for a geozone that the account does not have. */
export function unknownZone(geozoneID: string): AppError {
  return new AppError('not_found', `there is no geozone ${JSON.stringify(geozoneID)}`);
}

/** Whether a caller may change geozones and routes. */
export function mayUpdateGeozones(caller: Pick<Caller, 'role'>): boolean {
  return roleCovers(caller.role, 'operator');
}

const words = (name: 'cargoaccess' | 'enginecutoff') => ({
  ...sensorWords[name],
  isNegativeTriggered: false,
  pendingState: null,
  state: null,
});
const sectionFeatures = { cargoaccess: words('cargoaccess'), enginecutoff: words('enginecutoff') };
const sections: GeozoneView['sections'] = {
  arrive: { displayText: 'Arrival', features: sectionFeatures },
  depart: { displayText: 'Departure', features: sectionFeatures },
};

/** A geozone as its caller sees it. */
export function viewGeozone(row: Omit<GeozoneRow, 'version'>, caller: Pick<Caller, 'role'>): GeozoneView {
  const { zone } = row;
  const on = new Set(row.switches);
  const point = (n: number): string => pointText(zone.points[n - 1] ?? { latitude: 0, longitude: 0 });
  return {
    geozoneID: row.geozoneID,
    geozoneDisplayName: row.displayName,
    geozoneDescription: row.description,
    geozoneRadius: zone.radiusM,
    geozoneType: zone.type,
    geozonePoint1: point(1),
    geozonePoint2: point(2),
    geozonePoint3: point(3),
    geozonePoint4: point(4),
    geozonePoint5: point(5),
    geozonePoint6: point(6),
    geozonePoint7: point(7),
    geozonePoint8: point(8),
    geozoneArrivalEngineOn: on.has('arrivalEngineOn'),
    geozoneArrivalEngineOff: on.has('arrivalEngineOff'),
    geozoneArrivalCabinLock: on.has('arrivalCabinLock'),
    geozoneArrivalCabinUnlock: on.has('arrivalCabinUnlock'),
    geozoneArrivalCargoLock: on.has('arrivalCargoLock'),
    geozoneArrivalCargoUnlock: on.has('arrivalCargoUnlock'),
    geozoneDepartureEngineOn: on.has('departureEngineOn'),
    geozoneDepartureEngineOff: on.has('departureEngineOff'),
    geozoneDepartureCabinLock: on.has('departureCabinLock'),
    geozoneDepartureCabinUnlock: on.has('departureCabinUnlock'),
    geozoneDepartureCargoLock: on.has('departureCargoLock'),
    geozoneDepartureCargoUnlock: on.has('departureCargoUnlock'),
    geozoneAlertEntry: on.has('alertEntry'),
    geozoneAlertExit: on.has('alertExit'),
    features,
    sections,
    hasUpdateGeozonePrivileges: mayUpdateGeozones(caller),
    geozoneWarning: zoneFault(zone) ?? '',
    ...ok,
  };
}

/** Geozones of one read: about 0.4 MB of JSON, so that others have their turn. */
const zonesPerPage = 200;

type ZonePages = Pages<readonly [string, GeozoneView]>;

const viewPage = (rows: readonly GeozoneRow[], caller: Caller) =>
  rows.map((row) => [row.geozoneID, viewGeozone(row, caller)] as const);

/** All geozones of the caller's account, keyed by id. */
export function viewZones(services: Pick<ApiServices, 'db'>, caller: Caller): PagedRecord<GeozoneView> {
  const { accountID } = caller;
  async function* pages(): ZonePages {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = { accountID, after, limit: zonesPerPage };
      const rows: readonly GeozoneRow[] = await listGeozones(services.db, page);
      yield viewPage(rows, caller);
      after = rows.length < zonesPerPage ? undefined : rows.at(-1)?.geozoneID;
    }
  }
  return { pagedRecord: pages() };
}

/** The geozones of the caller's account that hold a point, keyed by id. */
export function viewZonesAt(
  services: Pick<ApiServices, 'db'>,
  caller: Caller,
  at: Point,
): PagedRecord<GeozoneView> {
  const { accountID } = caller;
  async function* pages(): ZonePages {
    const ids = await listGeozoneIDsAbout(services.db, accountID, at);
    for (let first = 0; first < ids.length; first += idsMost) {
      const rows = await listGeozonesOf(services.db, accountID, ids.slice(first, first + idsMost));
      yield viewPage(
        rows.filter(({ zone }) => zoneContains(zone, at)),
        caller,
      );
    }
  }
  return { pagedRecord: pages() };
}

/** Some geozones of the caller's account in the order of ids, keyed by id. */
export function viewZonesFrom(
  services: Pick<ApiServices, 'db'>,
  caller: Caller,
  range: { readonly offset: number; readonly limit: number },
): PagedRecord<GeozoneView> {
  async function* pages(): ZonePages {
    for (let offset = range.offset; offset < range.offset + range.limit; offset += zonesPerPage) {
      const limit = Math.min(zonesPerPage, range.offset + range.limit - offset);
      const rows = await listGeozonesFrom(services.db, { accountID: caller.accountID, offset, limit });
      yield viewPage(rows, caller);
      if (rows.length < limit) return;
    }
  }
  return { pagedRecord: pages() };
}

/** Names of the geozones that records of an answer carry; `geozoneIDs` may repeat and may be empty texts. */
export function zoneNames(
  services: Pick<ApiServices, 'db'>,
  accountID: string,
  geozoneIDs: Iterable<string>,
): Promise<ReadonlyMap<string, ZoneName>> {
  const ids = new Set(geozoneIDs);
  ids.delete('');
  return listZoneNames(services.db, accountID, [...ids]);
}
