// The world map that ships with the console: land, borders, lakes and rivers of Natural Earth, towns of GeoNames. No request leaves the host.

import coarseUrls from 'virtual:coarse-urls';
import fineUrls from 'virtual:fine-urls';
import watersUrls from 'virtual:waters-urls';
import type { FeatureCollection, Point } from 'geojson';
import type { GeometryCollection, Topology } from 'topojson-specification';
import { countriesOf, countryNames, featuresOf, type NamedCountry } from './shapes.ts';
import { once, readJson, readTowns } from './towns.ts';

type Waters = Topology<{ lakes: GeometryCollection; rivers: GeometryCollection }>;

/** @param url of a file in which each arc is one list of numbers, as `vite.config.ts` writes it. */
async function readWorld<W extends Topology>(url: string): Promise<W> {
  const world = await readJson<Omit<W, 'arcs'> & { readonly arcs: readonly (readonly number[])[] }>(url);
  const arcs = world.arcs.map((arc) => arc.flatMap((x, at) => (at % 2 === 0 ? [[x, arc[at + 1] ?? 0]] : [])));
  return { ...world, arcs } as unknown as W;
}

const countries = async (url: string) => ({
  type: 'FeatureCollection' as const,
  features: [...countriesOf(await readWorld(url))],
});

/** Countries for a look from far. */
const coarseCountries = once(() => countries(coarseUrls[0]));

/** Countries for zoom 3 and nearer, 186 kB. */
const fineCountries = once(() => countries(fineUrls[0]));

/** Lakes as polygons and rivers as lines, 53 kB. */
const waters = once(async (): Promise<FeatureCollection> => {
  const world = await readWorld<Waters>(watersUrls[0]);
  const { lakes, rivers } = world.objects;
  return {
    type: 'FeatureCollection',
    features: [lakes, rivers].flatMap((one) => featuresOf(world, one)),
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
    ['country-names', fine.then(({ features }) => countryNames(features as NamedCountry[], language()))],
    ['towns', townPoints().then(ownTowns)],
  ] as const;
}
