// A geozone or route that is being drawn, as text in the address: `type;radius;lat,lng;...`. What is wrong with it is data; screens say it. Pure.
import type { Point } from '../../../../src/core/geo/geo.ts';
import { isSetPoint, type Zone, zoneFault, zoneLimits } from '../../../../src/core/geo/geozone.ts';
import { pointsMost } from './zone-address.ts';
import { crossingOf } from './zone-geometry.ts';

export const newDraft: Zone = { type: 3, radiusM: 500, points: [] };

/** Decimals that the service keeps. */
const digits = 5;

export const pointText = ({ latitude, longitude }: Point): string =>
  `${latitude.toFixed(digits)},${longitude.toFixed(digits)}`;

export const draftText = ({ type, radiusM, points }: Zone): string =>
  [type, radiusM, ...points.map(pointText)].join(';');

export type DraftFault =
  /** So many points more are needed, each different from the others. */
  | { readonly code: 'few'; readonly missing: number }
  /** The edges that begin at these points, from 1. */
  | { readonly code: 'crossing'; readonly edges: readonly [number, number] }
  | { readonly code: 'radius' }
  | { readonly code: 'wide' };

const pointsLeast = { 0: 1, 1: 2, 2: 2, 3: 3, 4: 1 } as const satisfies Record<Zone['type'], number>;

export const hasRadius = ({ type }: Zone): boolean => type === 0 || type === 2;

/** Reason why this may not be saved; null: none. A polygon that crosses itself is refused: the even-odd rule would make holes. */
export function draftFault(draft: Zone): DraftFault | null {
  const different = new Set(draft.points.map(pointText)).size;
  const missing = pointsLeast[draft.type] - different;
  if (missing > 0) return { code: 'few', missing };
  const isRadius = draft.radiusM >= zoneLimits.radiusLeastM && draft.radiusM <= zoneLimits.radiusMostM;
  if (hasRadius(draft) && !isRadius) return { code: 'radius' };
  const edges = draft.type === 3 ? crossingOf(draft.points) : null;
  if (edges !== null) return { code: 'crossing', edges };
  return draft.type === 1 && zoneFault(draft) !== null ? { code: 'wide' } : null;
}

export type PointChange =
  | { readonly draft: Zone }
  /** `full`: it has as many points as it may; `unset`: at 0, 0 a point counts as not set. */
  | { readonly refused: 'full' | 'unset' };

const rounded = ({ latitude, longitude }: Point): Point => ({
  latitude: Number(latitude.toFixed(digits)),
  longitude: Number((((((longitude + 180) % 360) + 360) % 360) - 180).toFixed(digits)),
});

/** @param after index of the point that it follows; -1: before all. @param most points that there may be. */
export function withPoint(draft: Zone, point: Point, after: number, most: number = pointsMost): PointChange {
  if (draft.points.length >= most) return { refused: 'full' };
  const to = rounded(point);
  return isSetPoint(to)
    ? { draft: { ...draft, points: draft.points.toSpliced(after + 1, 0, to) } }
    : { refused: 'unset' };
}

export function movedPoint(draft: Zone, at: number, point: Point): PointChange {
  const to = rounded(point);
  return isSetPoint(to) ? { draft: { ...draft, points: draft.points.with(at, to) } } : { refused: 'unset' };
}

export const withoutPoint = (draft: Zone, at: number): Zone => ({
  ...draft,
  points: draft.points.toSpliced(at, 1),
});
