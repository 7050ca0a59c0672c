// The shapes of countries as MapLibre needs them. Natural Earth, as world-atlas ships it, has no cut at 180 degrees: a ring there jumps from
// 179 to -179. Drawn as it is, the polygon would fill the world between.
import type { Feature, FeatureCollection, MultiPolygon, Point, Polygon, Position } from 'geojson';

type Ring = readonly Position[];
export type Country = Feature<Polygon | MultiPolygon, { readonly name: string }>;

const coordinatesOf = ([longitude = 0, latitude = 0]: Position) => [longitude, latitude] as const;

/**
 * The ring with longitudes that go on past 180 degrees; MapLibre draws what lies there on the other side too.
 * A ring around a pole ends 360 degrees from where it began, and is closed along the pole.
 */
function continued(ring: Ring): Position[] {
  let turns = 0;
  let before: number | null = null;
  const points = ring.map((position): Position => {
    const [longitude, latitude] = coordinatesOf(position);
    if (before !== null && Math.abs(longitude - before) > 180) turns += longitude > before ? -1 : 1;
    before = longitude;
    return [longitude + 360 * turns, latitude];
  });
  const [first, last] = [points[0], points.at(-1)];
  if (turns === 0 || first === undefined || last === undefined) return points;
  const [from, latitude] = coordinatesOf(first);
  const pole = latitude < 0 ? -90 : 90;
  return [...points, [coordinatesOf(last)[0], pole], [from, pole], first];
}

const polygonsOf = ({ geometry }: Country): readonly Position[][][] =>
  geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;

export function continuedCountry(country: Country): Country {
  const coordinates = polygonsOf(country).map((rings) => rings.map(continued));
  return { ...country, geometry: { type: 'MultiPolygon', coordinates } };
}

/** Without a unit, true to area: 0.1 is 35,000 km². */
function areaOf(ring: Ring): number {
  let sum = 0;
  for (let at = 1; at < ring.length; at += 1) {
    const [x0, y0] = coordinatesOf(ring[at - 1] ?? []);
    const [x1, y1] = coordinatesOf(ring[at] ?? []);
    sum += (x1 - x0) * (Math.sin((y0 * Math.PI) / 180) + Math.sin((y1 * Math.PI) / 180));
  }
  return Math.abs(sum);
}

/** Longitudes at which the ring crosses a latitude, from west to east: land lies between the first and second, third and fourth. */
function crossings(ring: Ring, latitude: number): readonly number[] {
  const found: number[] = [];
  for (let at = 1; at < ring.length; at += 1) {
    const [x0, y0] = coordinatesOf(ring[at - 1] ?? []);
    const [x1, y1] = coordinatesOf(ring[at] ?? []);
    if (y0 > latitude !== y1 > latitude) found.push(x0 + ((latitude - y0) / (y1 - y0)) * (x1 - x0));
  }
  return found.sort((one, other) => one - other);
}

/** Latitudes that are tried between the south and the north of a country. */
const lines = 24;

/** The middle of the widest stretch of land that is not close to the north or south end of the ring. */
function middleOf(ring: Ring): Position {
  const latitudes = ring.map((position) => coordinatesOf(position)[1]);
  const south = Math.min(...latitudes);
  const north = Math.max(...latitudes);
  let best = { room: -1, place: coordinatesOf(ring[0] ?? []) };
  for (let line = 1; line < lines; line += 1) {
    const latitude = south + ((north - south) * line) / lines;
    const ends = crossings(ring, latitude);
    const height = Math.min(latitude - south, north - latitude);
    for (let at = 1; at < ends.length; at += 2) {
      const [west = 0, east = 0] = ends.slice(at - 1, at + 1);
      const room = Math.min((east - west) * Math.cos((latitude * Math.PI) / 180), 3 * height);
      if (room > best.room) best = { room, place: [(west + east) / 2, latitude] };
    }
  }
  return [...best.place];
}

/** Its number in ISO 3166-1 names a country in every language; Natural Earth's English name where there is none. */
function nameOf({ id, properties }: Country, names: Intl.DisplayNames): string {
  if (id === undefined) return properties.name;
  const [tag = ''] = Intl.getCanonicalLocales(`und-${String(id).padStart(3, '0')}`);
  const region = tag.slice('und-'.length);
  return /^[A-Z]{2}$/.test(region) ? (names.of(region) ?? properties.name) : properties.name;
}

/** One name a country, on its largest land, in the reader's language; the largest country first. @param countries continued. */
export function countryNames(countries: readonly Country[], language: string): FeatureCollection<Point> {
  const names = new Intl.DisplayNames([language], { type: 'region' });
  const mains = countries
    .flatMap((country) => {
      const name = nameOf(country, names);
      return polygonsOf(country).map(([outline = []]) => ({ name, outline, area: areaOf(outline) }));
    })
    .sort((one, other) => other.area - one.area);
  const named = new Set<string>();
  const features = mains.flatMap(({ name, outline, area }) => {
    if (named.has(name)) return [];
    named.add(name);
    const geometry = { type: 'Point' as const, coordinates: middleOf(outline) };
    return [{ type: 'Feature' as const, properties: { name, area }, geometry }];
  });
  return { type: 'FeatureCollection', features };
}
