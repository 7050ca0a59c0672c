// Geozones in answers: one, all of an account page by page, and the names in event records. Reads only; apart from the
// operations, so that those of devices and events can use it.
import { AppError } from '../../../src/core/errors.ts';
import type { Point } from '../../../src/core/geo/geo.ts';
import { zoneContains, zoneFault } from '../../../src/core/geo/geozone.ts';
import { roleCovers } from '../../core/accounts/session.ts';
import { seesAny } from '../../store/base/scope.ts';
import {
  type GeozoneRow,
  idsMost,
  listGeozoneIDsAbout,
  listGeozones,
  listGeozonesFrom,
  listGeozonesOf,
  listZoneNames,
  type ZoneName,
} from '../../store/geozones/geozones.ts';
import { features, sensorTexts } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Caller } from '../base/caller.ts';
import type { PagedRecord, Pages } from '../base/operation.ts';
import { ok } from '../base/shapes.ts';
import { pointText } from './coordinates.ts';
import type { GeozoneView } from './geozone-shapes.ts';

/** The answer for a geozone that the account does not have. */
export function unknownZone(geozoneID: string): AppError {
  return new AppError('not_found', `There is no geozone ${JSON.stringify(geozoneID)}`);
}

/** The caller's rights over geozones follow from role and devices. */
type Viewer = Pick<Caller, 'role' | 'scope'>;

/** True when the caller may change geozones: each concerns every device of the account, so a caller limited to groups may not. */
export function mayUpdateGeozones({ role, scope }: Viewer): boolean {
  return roleCovers(role, 'operator') && scope.limitedTo === null;
}

/** @throws AppError `forbidden` for a caller limited to groups. */
export function needWholeAccount(caller: Viewer): void {
  if (mayUpdateGeozones(caller)) return;
  throw new AppError(
    'forbidden',
    'A geozone concerns every device of the account, and you see those of your groups',
    {
      hint: 'Ask an operator or administrator who sees all devices.',
    },
  );
}

const featureTexts = (name: 'cargoaccess' | 'enginecutoff') => ({
  ...sensorTexts[name],
  isNegativeTriggered: false,
  pendingState: null,
  state: null,
});
const sectionFeatures = {
  cargoaccess: featureTexts('cargoaccess'),
  enginecutoff: featureTexts('enginecutoff'),
};
const sections: GeozoneView['sections'] = {
  arrive: { displayText: 'Arrival', features: sectionFeatures },
  depart: { displayText: 'Departure', features: sectionFeatures },
};

/** A geozone in an answer. @param mayUpdate whether the answer says that the caller may change it. */
export function viewGeozone(row: Omit<GeozoneRow, 'version'>, mayUpdate: boolean): GeozoneView {
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
    geozoneAlarmEntry: on.has('alarmEntry'),
    geozoneAlarmExit: on.has('alarmExit'),
    features,
    sections,
    hasUpdateGeozonePrivileges: mayUpdate,
    geozoneWarning: zoneFault(zone) ?? '',
    ...ok,
  };
}

/** Geozones of one read: about 0.4 MB of JSON, so that others have their turn. */
export const zonesPerPage = 200;

type ZonePages = Pages<readonly [string, GeozoneView]>;

const viewPage = (rows: readonly GeozoneRow[], caller: Caller) =>
  rows.map((row) => [row.geozoneID, viewGeozone(row, mayUpdateGeozones(caller))] as const);

/** All geozones of the caller's account, keyed by id; none for a caller who sees no device. */
export function viewZones(services: Pick<ApiServices, 'db'>, caller: Caller): PagedRecord<GeozoneView> {
  const { accountID } = caller;
  async function* pages(): ZonePages {
    if (!(await seesAny(services.db, caller.scope))) return;
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
    if (!(await seesAny(services.db, caller.scope))) return;
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
    if (!(await seesAny(services.db, caller.scope))) return;
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
