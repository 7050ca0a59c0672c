// Web Mercator (EPSG:3857), in which maps cut the world into tiles.
import { type Point, radians } from './geo.ts';

/** Where a place is on the square of the world, from its north-west corner: 0 to 1 within 180 and 85.0511 degrees. */
export function mercatorOf({ latitude, longitude }: Point): { readonly x: number; readonly y: number } {
  const north = Math.asinh(Math.tan(radians(latitude)));
  return { x: longitude / 360 + 0.5, y: 0.5 - north / (2 * Math.PI) };
}
