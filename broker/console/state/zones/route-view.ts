// Routes: the corridor of a route, as maps draw it and vehicles test it; the body of a change; and the vehicles inside the
// corridor. Pure.

import { distanceM } from '../../../../src/core/geo/geo.ts';
import { isSetPoint, type Zone, zoneContains } from '../../../../src/core/geo/geozone.ts';
import type { Body, PlannedRoute } from '../../api/operations.ts';
import type { Vehicle } from '../fleet.ts';
import { parsePoint } from './zone-address.ts';
import { draftText } from './zone-draft.ts';

/** Vehicles that one route can name in a change. */
export const routeVehiclesMost = 200;

/** As the service makes one without a radius. */
export const newRoute: Zone = { type: 2, radiusM: 1000, points: [] };

export function wayOf(route: PlannedRoute): Zone {
  const members: Readonly<Record<string, unknown>> = route;
  const points = Object.keys(members)
    .flatMap((name) => /^routePoint(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((one, other) => one - other)
    .map((number) => parsePoint(String(members[`routePoint${number}`])))
    .filter((point) => point !== null)
    .filter(isSetPoint);
  return { type: 2, radiusM: route.routeRadius, points };
}

/** Metres along the way. */
export const lengthOf = ({ points }: Zone): number =>
  points.slice(1).reduce((sum, point, at) => sum + distanceM(points[at] ?? point, point), 0);

export const routeName = ({ routeID, routeDisplayName }: PlannedRoute): string => routeDisplayName || routeID;

/** Those that match, by name. */
export const routesFound = (routes: readonly PlannedRoute[], text: string): readonly PlannedRoute[] =>
  routes
    .filter((route) =>
      [route.routeID, route.routeDisplayName, ...route.deviceIDs]
        .join('\n')
        .toLowerCase()
        .includes(text.trim().toLowerCase()),
    )
    .toSorted((one, other) => routeName(one).localeCompare(routeName(other)));

/** True when the vehicle's last position is within the corridor; null without a position. */
export function keepsTo(way: Zone, { place }: Vehicle): boolean | null {
  if (place === null) return null;
  const [longitude, latitude] = place;
  return zoneContains(way, { latitude, longitude });
}

export interface RouteForm {
  readonly id: string;
  readonly name: string;
  readonly deviceIDs: readonly string[];
}

export const routeFormOf = (route: PlannedRoute | undefined): RouteForm => ({
  id: route?.routeID ?? '',
  name: route?.routeDisplayName ?? '',
  deviceIDs: route?.deviceIDs ?? [],
});

/** Request body: members that differ from the read route; all of a new one. */
export function routeChangeOf(
  form: RouteForm,
  way: Zone,
  before: PlannedRoute | undefined,
): Body<'routeUpdate'> {
  const known = routeFormOf(before);
  const isSame = form.deviceIDs.toSorted().join() === known.deviceIDs.toSorted().join();
  const isSameWay = before !== undefined && draftText(wayOf(before)) === draftText(way);
  const points = way.points.flatMap(({ latitude, longitude }, at) => [
    [`routePoint${at + 1}lat`, latitude.toFixed(5)] as const,
    [`routePoint${at + 1}lng`, longitude.toFixed(5)] as const,
  ]);
  return {
    routeID: form.id,
    ...(form.name === known.name ? {} : { routeDisplayName: form.name }),
    ...(before !== undefined && isSame ? {} : { deviceIDs: [...form.deviceIDs] }),
    ...(isSameWay ? {} : { routeRadius: way.radiusM, ...Object.fromEntries(points) }),
  };
}
