// The town that is nearest to a place, and the direction from there. Pure.
import { distanceM, headingDeg, type Point } from '../../../../src/core/geo/geo.ts';
import { eastOf, metresPerDegree } from '../../../../src/core/geo/geo-edge.ts';
import { farthestKm } from './town-bands.ts';

export interface Town extends Point {
  readonly name: string;
}

export const directions = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const;

export interface NearTown {
  readonly name: string;
  readonly distanceKm: number;
  /** From the town to the place. */
  readonly direction: (typeof directions)[number];
}

/** @returns null at sea, in deserts, and while there are no towns. */
export function nearestTown(towns: readonly Town[], place: Point): NearTown | null {
  const along = Math.cos((place.latitude * Math.PI) / 180);
  let [nearest, least]: [Town | null, number] = [null, ((farthestKm * 1000) / metresPerDegree) ** 2];
  // Near enough for a comparison, and cheap: there are thousands.
  for (const town of towns) {
    const north = town.latitude - place.latitude;
    const east = eastOf(place, town);
    const far = north * north + (east * along) ** 2;
    if (far < least) [nearest, least] = [town, far];
  }
  if (nearest === null) return null;
  const direction = directions[Math.round(headingDeg(nearest, place) / 45) % directions.length];
  return {
    name: nearest.name,
    distanceKm: distanceM(nearest, place) / 1000,
    direction: direction ?? 'N',
  };
}
