// The world map that ships with the console: land, borders, lakes and rivers of Natural Earth, towns of GeoNames. No request leaves the host.

import watersUrls from 'virtual:waters-urls';
import type { FeatureCollection, Point } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import fineUrl from 'world-atlas/countries-50m.json?url';
import coarseUrl from 'world-atlas/countries-110m.json?url';
import { type Country, continuedCountry, countryNames } from './shapes.ts';
import { once, readJson, readTowns } from './towns.ts';

type World = Topology<{ countries: GeometryCollection<{ name: string }> }>;
type Waters = Topology<{ lakes: GeometryCollection; rivers: GeometryCollection }>;
type Countries = FeatureCollection<Country['geometry'], Country['properties']>;

async function countries(url: string): Promise<Countries> {
  const world = await readJson<World>(url);
  const { features, ...rest } = feature(world, world.objects.countries) as Countries;
  return { ...rest, features: features.map(continuedCountry) };
}

/** Countries for a look from far. */
const coarseCountries = once(() => countries(coarseUrl));

/** Countries for zoom 3 and nearer, 205 kB. */
const fineCountries = once(() => countries(fineUrl));

/** Lakes as polygons and rivers as lines, 64 kB. */
const waters = once(async (): Promise<FeatureCollection> => {
  const world = await readJson<Waters>(watersUrls[0]);
  const { lakes, rivers } = world.objects;
  return {
    type: 'FeatureCollection',
    features: [lakes, rivers].flatMap((one) => feature(world, one).features),
  };
});

const townPoints = async (): Promise<FeatureCollection<Point>> => ({
  type: 'FeatureCollection',
  features: (await readTowns()).map(({ name, population, isCapital, longitude, latitude }) => ({
    type: 'Feature',
    properties: { name, population, isCapital },
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
  })),
});

/** The data of each source of the style, read at once and drawn in this order. */
export function worldData({
  language,
  ownTowns,
}: {
  readonly language: () => string;
  readonly ownTowns: (towns: FeatureCollection<Point>) => FeatureCollection<Point>;
}) {
  const fine = fineCountries();
  return [
    ['countries-far', coarseCountries()],
    ['waters', waters()],
    ['countries', fine],
    ['country-names', fine.then(({ features }) => countryNames(features, language()))],
    ['towns', townPoints().then(ownTowns)],
  ] as const;
}
