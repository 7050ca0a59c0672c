// Towns lie in files by longitude, a band each, so that the name of a place needs one or two of them. Pure.
import type { Point } from '../../../../src/core/geo/geo.ts';
import { metresPerDegree } from '../../../../src/core/geo/geo-edge.ts';

/** Where each band begins, degrees: 555 towns each, some 6 kB. */
export const bandStarts = [-180, -77, -7, 11, 34, 72, 92, 119] as const;

/** From further away a town says nothing of a place, km. */
export const farthestKm = 250;

/** @param longitude within -180 and 180. */
export const bandOf = (longitude: number): number => bandStarts.findLastIndex((start) => start <= longitude);

/** Bands with the towns that may be the nearest of a place, over the date line too. */
export function bandsNear({ latitude, longitude }: Point): readonly number[] {
  const degrees = (farthestKm * 1000) / metresPerDegree;
  const along = Math.cos((Math.min(90, Math.abs(latitude) + degrees) * Math.PI) / 180);
  const reach = Math.min(180, degrees / Math.max(along, 0.01));
  return bandStarts.flatMap((start, band) => {
    const end = bandStarts[band + 1] ?? 180;
    const isNear = [-360, 0, 360].some(
      (turn) => longitude + turn + reach >= start && longitude + turn - reach <= end,
    );
    return isNear ? [band] : [];
  });
}
