// The shapes of countries as MapLibre needs them. Natural Earth, as world-atlas ships it, has no cut at 180 degrees: a ring there jumps from
// 179 to -179. Drawn as it is, the polygon would fill the world between.
import type { Feature, FeatureCollection, MultiPolygon, Point, Polygon, Position } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';

/** The shapes of one object of a topology. */
export const featuresOf = (world: Topology, shapes: GeometryCollection): readonly Feature[] =>
  feature(world, shapes).features;

export type Ring = readonly Position[];

/** The largest land of a country, which carries its name. */
export interface MainLand {
  /** Without a unit, true to area: 0.1 is 35,000 km². */
  readonly area: number;
  readonly place: Position;
}

export type Country = Feature<Polygon | MultiPolygon, { readonly name: string }>;
export type CountriesOfWorld = Topology<{ countries: GeometryCollection }>;
/** As the build writes it into the file of the countries for a near look. */
export type NamedCountry = Feature<Country['geometry'], Country['properties'] & MainLand>;

export const coordinatesOf = ([longitude = 0, latitude = 0]: Position) => [longitude, latitude] as const;

/**
 * The ring with longitudes that go on past 180 degrees; MapLibre draws what lies there on the other side too.
 * A ring around a pole ends 360 degrees from where it began, and is closed along the pole.
 */
function continued(ring: Position[]): Position[] {
  const isApart = (position: Position, at: number): boolean =>
    at > 0 && Math.abs((position[0] ?? 0) - (ring[at - 1]?.[0] ?? 0)) > 180;
  if (!ring.some(isApart)) return ring;
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

export const polygonsOf = ({ geometry }: Country): readonly Position[][][] =>
  geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates;

/** The countries of a world, continued past 180 degrees. */
export const countriesOf = (world: CountriesOfWorld): readonly Country[] =>
  featuresOf(world, world.objects.countries).map((one) => continuedCountry(one as Country));

function continuedCountry(country: Country): Country {
  const coordinates = polygonsOf(country).map((rings) => rings.map(continued));
  return { ...country, geometry: { type: 'MultiPolygon', coordinates } };
}

/** Its number in ISO 3166-1 names a country in every language; Natural Earth's English name where there is none. */
function nameOf({ id, properties }: Country, names: Intl.DisplayNames): string {
  if (id === undefined) return properties.name;
  const [tag = ''] = Intl.getCanonicalLocales(`und-${String(id).padStart(3, '0')}`);
  const region = tag.slice('und-'.length);
  return /^[A-Z]{2}$/.test(region) ? (names.of(region) ?? properties.name) : properties.name;
}

/** One name a country, on its largest land, in the reader's language; the largest country first. */
export function countryNames(countries: readonly NamedCountry[], language: string): FeatureCollection<Point> {
  const names = new Intl.DisplayNames([language], { type: 'region' });
  const named = new Set<string>();
  const features = countries
    .toSorted((one, other) => other.properties.area - one.properties.area)
    .flatMap((country) => {
      const { area, place } = country.properties;
      const name = nameOf(country, names);
      if (named.has(name)) return [];
      named.add(name);
      const geometry = { type: 'Point' as const, coordinates: place };
      return [{ type: 'Feature' as const, properties: { name, area }, geometry }];
    });
  return { type: 'FeatureCollection', features };
}
