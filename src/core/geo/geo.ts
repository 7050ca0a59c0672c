// Distance and heading on the sphere; good to 0.5 % anywhere, which is better than any GNSS fix needs here.

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** Mean radius of the Earth (IUGG). */
export const earthRadiusM = 6_371_008.8;
/** Degrees to radians. */
export const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Degrees with five decimals, about a metre; a rounded -0.000001 is 0. Made of whole numbers, because `toFixed` costs five times as much. */
export function degreesText(degrees: number): string {
  const units = Math.round(degrees * 1e5);
  const size = Math.abs(units);
  const whole = Math.floor(size / 1e5);
  // Beyond every place on Earth, and what is no number.
  if (!(whole < 1000)) return (units / 1e5).toFixed(5);
  return `${units < 0 ? '-' : ''}${whole}.${String(size - whole * 1e5 + 1e5).slice(1)}`;
}

/** Great-circle distance in metres (haversine). */
export function distanceM(a: Point, b: Point): number {
  const halfLat = Math.sin(radians(b.latitude - a.latitude) / 2);
  const halfLon = Math.sin(radians(b.longitude - a.longitude) / 2);
  const h = halfLat ** 2 + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * halfLon ** 2;
  return 2 * earthRadiusM * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** Initial heading from `a` to `b` in degrees, 0 to 360. */
export function headingDeg(a: Point, b: Point): number {
  const east = radians(b.longitude - a.longitude);
  const y = Math.sin(east) * Math.cos(radians(b.latitude));
  const x =
    Math.cos(radians(a.latitude)) * Math.sin(radians(b.latitude)) -
    Math.sin(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.cos(east);
  return ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360;
}

/** Smallest angle between two headings, 0 to 180 degrees. */
export function turnDeg(a: number, b: number): number {
  const turn = Math.abs(a - b) % 360;
  return turn > 180 ? 360 - turn : turn;
}
