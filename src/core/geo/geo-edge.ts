// Edges of zones and routes: straight lines in longitude and latitude, as maps draw them and as GeoJSON defines them
// (RFC 7946 section 3.1.1), the shorter way round the Earth. Latitudes -90 to 90, longitudes -180 to 180, distances in m.
import { distanceM, earthRadiusM, type Point, radians } from './geo.ts';

/** Degrees of longitude from one meridian to another, the shorter way; of two equal ways the one off the antimeridian. */
export function eastOf(from: Point, to: Point): number {
  const step = to.longitude - from.longitude;
  if (step > 180) return step - 360;
  if (step < -180) return step + 360;
  return step;
}

/** Of latitude, on the sphere of `earthRadiusM`; of longitude at the equator. */
export const metresPerDegree = radians(1) * earthRadiusM;

/** Metres east and north of a place. */
export interface Metres {
  readonly x: number;
  readonly y: number;
}

/** Offset of `to` from `from` on a flat map: error below 0.2 m within a kilometre, below 60 degrees of latitude. */
export function metresFrom(from: Point, to: Point): Metres {
  return {
    x: eastOf(from, to) * metresPerDegree * Math.cos(radians(from.latitude)),
    y: (to.latitude - from.latitude) * metresPerDegree,
  };
}

/** An edge as seen from a point: degrees north and east of it, so that the point is at 0, 0. */
interface Seen {
  readonly east: number;
  readonly north: number;
  readonly stepEast: number;
  readonly stepNorth: number;
}

/** Position on the edge, 0 to 1, nearest to the point; a degree of longitude is `scale` degrees of latitude long. */
function nearestPart({ east, north, stepEast, stepNorth }: Seen, scale: number): number {
  const length = (stepEast * scale) ** 2 + stepNorth ** 2;
  if (length === 0) return 0;
  const part = -(east * stepEast * scale ** 2 + north * stepNorth) / length;
  return Math.min(1, Math.max(0, part));
}

function seenDistanceM(at: Point, seen: Seen): number {
  const pointAt = (part: number): Point => ({
    latitude: at.latitude + seen.north + part * seen.stepNorth,
    longitude: at.longitude + seen.east + part * seen.stepEast,
  });
  // A flat map around the point finds the place on the edge, a second one half-way corrects it; the distance to it is exact.
  // Within 50 km and 85 degrees of latitude the error is below 0.1 %, never too short.
  const first = pointAt(nearestPart(seen, Math.cos(radians(at.latitude))));
  const between = Math.cos(radians((at.latitude + first.latitude) / 2));
  return Math.min(distanceM(at, first), distanceM(at, pointAt(nearestPart(seen, between))));
}

/** Distance in metres from a point to the edge `from`..`to`. */
export function edgeDistanceM(at: Point, [from, to]: readonly [Point, Point]): number {
  const east = eastOf(at, from);
  const seen: Seen = {
    east,
    north: from.latitude - at.latitude,
    stepEast: eastOf(from, to),
    stepNorth: to.latitude - from.latitude,
  };
  const near = seenDistanceM(at, seen);
  const end = east + seen.stepEast;
  // An edge that runs past the far side of the Earth comes near from the other side too.
  if (end > 180) return Math.min(near, seenDistanceM(at, { ...seen, east: east - 360 }));
  if (end < -180) return Math.min(near, seenDistanceM(at, { ...seen, east: east + 360 }));
  return near;
}

/** The edges along points; `closed` joins the last to the first. */
export function edgesOf(points: readonly Point[], closed: boolean): readonly (readonly [Point, Point])[] {
  const edges: (readonly [Point, Point])[] = [];
  for (let at = 0; at < points.length; at += 1) {
    const [from, to] = [points[at], points[at + 1] ?? (closed ? points[0] : undefined)];
    if (from !== undefined && to !== undefined) edges.push([from, to]);
  }
  return edges;
}
