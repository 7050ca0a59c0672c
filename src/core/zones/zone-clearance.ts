// The greatest depth inside a geozone, and from it the depth of an arrival: a fixed depth would make small zones
// unreachable. Pure geometry, computed for the few zones near a fix.
import { distanceM, type Point, radians } from '../geo/geo.ts';
import { eastOf, edgesOf, metresPerDegree } from '../geo/geo-edge.ts';
import { isSetPoint, type Zone, zoneBox } from '../geo/geozone.ts';

/** Metres from the middle of a rectangle to its nearest side; where it is narrowest, by the box about it. */
function rectangleClearanceM(zone: Zone): number {
  const box = zoneBox(zone);
  if (box === null) return 0;
  const width = box.east >= box.west ? box.east - box.west : box.east - box.west + 360;
  const narrowest = Math.cos(radians(Math.max(Math.abs(box.south), Math.abs(box.north))));
  return (Math.min(box.north - box.south, width * narrowest) * metresPerDegree) / 2;
}

/**
 * Area by circumference: no polygon that does not cross itself is shallower than that (its area is within that
 * depth of its border). A ring around a pole is larger than any hysteresis.
 */
function polygonClearanceM(points: readonly Point[]): number {
  const [first] = points;
  if (first === undefined) return 0;
  const scale = Math.cos(radians(points.reduce((sum, { latitude }) => sum + latitude, 0) / points.length));
  let [east, doubleAreaM2, roundM] = [0, 0, 0];
  for (const [from, to] of edgesOf(points, true)) {
    const stepEast = eastOf(from, to);
    const [x, y] = [east * scale * metresPerDegree, (from.latitude - first.latitude) * metresPerDegree];
    const [nextX, nextY] = [
      (east + stepEast) * scale * metresPerDegree,
      (to.latitude - first.latitude) * metresPerDegree,
    ];
    doubleAreaM2 += x * nextY - nextX * y;
    roundM += distanceM(from, to);
    east += stepEast;
  }
  if (Math.abs(east) > 180) return Number.POSITIVE_INFINITY;
  return roundM === 0 ? 0 : Math.abs(doubleAreaM2) / 2 / roundM;
}

/** Depth in metres that some place in the zone certainly has; for a ring that crosses itself it may be too little. */
export function zoneClearanceM(zone: Zone): number {
  switch (zone.type) {
    case 0:
    case 2:
      return zone.radiusM;
    case 1:
      return rectangleClearanceM(zone);
    case 3:
      return polygonClearanceM(zone.points.filter(isSetPoint));
    case 4:
      return 0;
  }
}
