// Geozones as shapes for the map: areas, corridors, places, and the places of their names. Pure.
import type { Feature, FeatureCollection, Position } from 'geojson';
import { earthRadiusM, type Point, radians } from '../../../src/core/geo/geo.ts';
import { edgesOf } from '../../../src/core/geo/geo-edge.ts';
import { isSetPoint, type Zone } from '../../../src/core/geo/geozone.ts';
import type { Geozone } from '../api/operations.ts';
import { isJoined } from '../state/joined-script.ts';
import { unrolled, zoneOf } from '../state/zones/zone-geometry.ts';

/** Properties for the layers of `zones.ts`; `kind` selects the layer. */
interface ZoneProperties {
  readonly kind: 'area' | 'border' | 'corridor' | 'line' | 'place' | 'name';
  readonly name: string;
  /** The name is drawn as a picture. */
  readonly isJoined: boolean;
}

type ZoneFeature = Feature<Feature['geometry'], ZoneProperties>;

/** Of a circle. */
const corners = 64;
/** Of each side of a corridor between two points. */
const sideSteps = 12;
const degrees = (radian: number): number => (radian * 180) / Math.PI;

const positionOf = ({ latitude, longitude }: Point): Position => [longitude, latitude];

/** The place at a distance from another one, on the sphere. @param bearing in radians from north. */
function awayFrom({ latitude, longitude }: Point, bearing: number, distanceM: number): Position {
  const [phi, delta] = [radians(latitude), distanceM / earthRadiusM];
  const to = Math.asin(Math.sin(phi) * Math.cos(delta) + Math.cos(phi) * Math.sin(delta) * Math.cos(bearing));
  const east = Math.atan2(
    Math.sin(bearing) * Math.sin(delta) * Math.cos(phi),
    Math.cos(delta) - Math.sin(phi) * Math.sin(to),
  );
  return [longitude + degrees(east), degrees(to)];
}

/** Places about a point between two bearings, counter-clockwise. */
const arcOf = (point: Point, radiusM: number, from: number, to: number): readonly Position[] =>
  Array.from({ length: corners / 2 + 1 }, (_, at) =>
    awayFrom(point, from + ((to - from) * at) / (corners / 2), radiusM),
  );

/** A circle as a closed ring. */
function circleOf(point: Point, radiusM: number): readonly Position[] {
  const ring = [
    ...arcOf(point, radiusM, 0, -Math.PI),
    ...arcOf(point, radiusM, -Math.PI, -2 * Math.PI).slice(1, -1),
  ];
  return [...ring, ...ring.slice(0, 1)];
}

/** All within the radius of a line between two points, as a closed ring. Along a long line its sides are followed in steps. */
function bandOf(from: Point, to: Point, radiusM: number): readonly Position[] {
  const [north, east] = [to.latitude - from.latitude, to.longitude - from.longitude];
  const bearingAt = (latitude: number): number => Math.atan2(east * Math.cos(radians(latitude)), north);
  const side = (turn: number): readonly Position[] =>
    Array.from({ length: sideSteps - 1 }, (_, at) => {
      const part = (at + 1) / sideSteps;
      const point = { latitude: from.latitude + part * north, longitude: from.longitude + part * east };
      return awayFrom(point, bearingAt(point.latitude) + turn, radiusM);
    });
  const [begin, end] = [bearingAt(from.latitude), bearingAt(to.latitude)];
  const right = Math.PI / 2;
  const ring = [
    ...side(right),
    ...arcOf(to, radiusM, end + right, end - right),
    ...side(-right).toReversed(),
    ...arcOf(from, radiusM, begin - right, begin - 3 * right),
  ];
  return [...ring, ...ring.slice(0, 1)];
}

function rectangleOf(line: readonly Point[]): readonly Position[] {
  const [latitudes, longitudes] = [
    line.map(({ latitude }) => latitude),
    line.map(({ longitude }) => longitude),
  ];
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const centreOf = (line: readonly Point[]): Position => [
  mean(line.map(({ longitude }) => longitude)),
  mean(line.map(({ latitude }) => latitude)),
];

function geometryOf({ type, radiusM }: Zone, line: readonly Point[]): Feature['geometry'] | null {
  const polygon = (ring: readonly Position[]): Feature['geometry'] => ({
    type: 'Polygon',
    coordinates: [[...ring]],
  });
  const circles = line.map((point) => [[...circleOf(point, radiusM)]]);
  if (type === 0) return { type: 'MultiPolygon', coordinates: circles };
  if (type === 1) return line.length < 2 ? null : polygon(rectangleOf(line));
  if (type === 2) {
    const bands = edgesOf(line, false).map(([from, to]) => [[...bandOf(from, to, radiusM)]]);
    // A corridor of one point is a circle.
    return { type: 'MultiPolygon', coordinates: bands.length === 0 ? circles : bands };
  }
  if (type === 3) return line.length < 3 ? null : polygon([...line, ...line.slice(0, 1)].map(positionOf));
  return { type: 'MultiPoint', coordinates: line.map(positionOf) };
}

function featuresOf(zone: Zone, name: string): readonly ZoneFeature[] {
  const line = unrolled(zone.points.filter(isSetPoint));
  const geometry = line.length === 0 ? null : geometryOf(zone, line);
  if (geometry === null) return [];
  const isCorridor = zone.type === 2 && line.length > 1;
  const kind = geometry.type === 'MultiPoint' ? 'place' : isCorridor ? 'corridor' : 'area';
  // Circles and places may lie far apart: each has the name.
  const named = zone.type === 0 || kind === 'place' ? line.map(positionOf) : [centreOf(line)];
  const properties = { name, isJoined: isJoined(name) };
  const feature = (of: ZoneProperties['kind'], shape: Feature['geometry']): ZoneFeature => ({
    type: 'Feature',
    properties: { ...properties, kind: of },
    geometry: shape,
  });
  return [
    feature(kind, geometry),
    ...(isCorridor ? [feature('line', { type: 'LineString', coordinates: line.map(positionOf) })] : []),
    feature('name', { type: 'MultiPoint', coordinates: named }),
  ];
}

/** All that can be drawn; a geozone with too few points, which no vehicle is ever in, is left out. */
export const zoneShapes = (zones: readonly Geozone[]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: zones.flatMap((zone) => featuresOf(zoneOf(zone), zone.geozoneDisplayName || zone.geozoneID)),
});

/**
 * One shape that is selected or being drawn, without a name; as long as it has too few points, the line along them. The border of a polygon is a
 * line too: MapLibre draws no area whose parts cancel each other where it crosses itself.
 */
export function draftShapes(draft: Zone | null): FeatureCollection {
  if (draft === null) return { type: 'FeatureCollection', features: [] };
  const points = draft.points.filter(isSetPoint);
  const features = featuresOf(draft, '').filter(({ properties: { kind } }) => kind !== 'name');
  const isBegun = features.length === 0;
  const ring = draft.type === 3 && !isBegun ? [...points, ...points.slice(0, 1)] : points;
  const line: ZoneFeature = {
    type: 'Feature',
    properties: { kind: isBegun ? 'line' : 'border', name: '', isJoined: false },
    geometry: { type: 'LineString', coordinates: unrolled(ring).map(positionOf) },
  };
  const hasLine = points.length > 1 && (isBegun || draft.type === 3);
  return { type: 'FeatureCollection', features: hasLine ? [...features, line] : features };
}
