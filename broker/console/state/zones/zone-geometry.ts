// Geozones of the service as the shapes that the vehicle's own code judges, and the lines that maps draw. Pure.
import type { Point } from '../../../../src/core/geo/geo.ts';
import { eastOf } from '../../../../src/core/geo/geo-edge.ts';
import { isSetPoint, type Zone } from '../../../../src/core/geo/geozone.ts';
import type { Geozone } from '../../api/operations.ts';
import { parsePoint, zoneTypes } from './zone-address.ts';

/** The points that are set, in their order. */
export function pointsOf(zone: Geozone): readonly Point[] {
  const { geozonePoint1, geozonePoint2, geozonePoint3, geozonePoint4 } = zone;
  const { geozonePoint5, geozonePoint6, geozonePoint7, geozonePoint8 } = zone;
  return [
    geozonePoint1,
    geozonePoint2,
    geozonePoint3,
    geozonePoint4,
    geozonePoint5,
    geozonePoint6,
    geozonePoint7,
    geozonePoint8,
  ]
    .map(parsePoint)
    .filter((point) => point !== null)
    .filter(isSetPoint);
}

export const zoneOf = (geozone: Geozone): Zone => ({
  // The service has no other numbers.
  type: zoneTypes.find((type) => type === geozone.geozoneType) ?? 4,
  radiusM: geozone.geozoneRadius,
  points: pointsOf(geozone),
});

/** The points with longitudes that go on beyond 180 degrees: lines then go the shorter way round the Earth. */
export function unrolled(points: readonly Point[]): readonly Point[] {
  const [first, ...rest] = points;
  if (first === undefined) return [];
  const line = [first];
  let [before, longitude] = [first, first.longitude];
  for (const point of rest) {
    longitude += eastOf(before, point);
    line.push({ latitude: point.latitude, longitude });
    before = point;
  }
  return line;
}

/** An edge of the plane: from one point to the next, with the number of the first, from 1. */
interface Edge {
  readonly from: Point;
  readonly to: Point;
  readonly number: number;
}

/** Edges of the closed ring, without those that have no length. */
function ringEdges(points: readonly Point[]): readonly Edge[] {
  const [first] = points;
  if (first === undefined) return [];
  const line = unrolled([...points, first]);
  return points.flatMap((_, at) => {
    const [from, to] = [line[at], line[at + 1]];
    if (from === undefined || to === undefined) return [];
    const hasLength = from.latitude !== to.latitude || from.longitude !== to.longitude;
    return hasLength ? [{ from, to, number: at + 1 }] : [];
  });
}

const turnOf = (from: Point, to: Point, at: Point): number =>
  Math.sign(
    (to.longitude - from.longitude) * (at.latitude - from.latitude) -
      (to.latitude - from.latitude) * (at.longitude - from.longitude),
  );

const isBetween = (value: number, one: number, other: number): boolean =>
  value >= Math.min(one, other) && value <= Math.max(one, other);

const isOnEdge = ({ from, to }: Edge, at: Point): boolean =>
  turnOf(from, to, at) === 0 &&
  isBetween(at.latitude, from.latitude, to.latitude) &&
  isBetween(at.longitude, from.longitude, to.longitude);

function doMeet(one: Edge, other: Edge): boolean {
  const isApart =
    turnOf(one.from, one.to, other.from) === turnOf(one.from, one.to, other.to) ||
    turnOf(other.from, other.to, one.from) === turnOf(other.from, other.to, one.to);
  if (!isApart) return true;
  return (
    isOnEdge(one, other.from) ||
    isOnEdge(one, other.to) ||
    isOnEdge(other, one.from) ||
    isOnEdge(other, one.to)
  );
}

/** Neighbours share a point; they cross where one goes back over the other. */
const doesFold = (one: Edge, next: Edge): boolean => isOnEdge(one, next.to) || isOnEdge(next, one.from);

/**
 * Finds where the ring along the points crosses or touches itself.
 * @returns the numbers, from 1, of the points that the two edges begin at; null where it does not.
 */
export function crossingOf(points: readonly Point[]): readonly [number, number] | null {
  const edges = ringEdges(points);
  for (const [at, one] of edges.entries()) {
    for (const [other, two] of edges.entries()) {
      if (other <= at) continue;
      const isNext = other === at + 1;
      const isLast = at === 0 && other === edges.length - 1;
      // A ring of two edges goes there and back.
      const isFault =
        edges.length < 3
          ? true
          : isNext
            ? doesFold(one, two)
            : isLast
              ? doesFold({ ...two }, { ...one })
              : doMeet(one, two);
      if (isFault) return [one.number, two.number];
    }
  }
  return null;
}
