// The world map that ships with the console: land, borders, lakes and rivers of Natural Earth, towns of GeoNames. No request leaves the host.

import placesUrl from 'virtual:places-url';
import watersUrl from 'virtual:waters-url';
import type { FeatureCollection, Point } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import fineUrl from 'world-atlas/countries-50m.json?url';
import coarseUrl from 'world-atlas/countries-110m.json?url';
import { retryDelayMs } from '../../../../src/core/retry-delay.ts';
import { type Country, continuedCountry, countryNames } from './shapes.ts';

type World = Topology<{ countries: GeometryCollection<{ name: string }> }>;
type Waters = Topology<{ lakes: GeometryCollection; rivers: GeometryCollection }>;
type Row = readonly [name: string, longitude: number, latitude: number, population: number, isCapital: 0 | 1];

async function read<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return (await answer.json()) as T;
}

const retry = { baseMs: 4000, capMs: 60_000, floorMs: 2000 } as const;

/** Reads once, again after each failure: a page that opens while the service is away gets its world later. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  const readAgain = async (): Promise<T> => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await read();
      } catch {
        const delayMs = retryDelayMs(retry, { attempt, fraction: Math.random() });
        await new Promise((done) => setTimeout(done, delayMs));
      }
    }
  };
  let held: Promise<T> | null = null;
  return () => (held ??= readAgain());
}

type Countries = FeatureCollection<Country['geometry'], Country['properties']>;

async function countries(url: string): Promise<Countries> {
  const world = await read<World>(url);
  const { features, ...rest } = feature(world, world.objects.countries) as Countries;
  return { ...rest, features: features.map(continuedCountry) };
}

/** Countries for a look from far. */
const coarseCountries = once(() => countries(coarseUrl));

/** Countries for zoom 3 and nearer, 205 kB. */
const fineCountries = once(() => countries(fineUrl));

/** Lakes as polygons and rivers as lines, 64 kB. */
const waters = once(async (): Promise<FeatureCollection> => {
  const world = await read<Waters>(watersUrl);
  const { lakes, rivers } = world.objects;
  return {
    type: 'FeatureCollection',
    features: [lakes, rivers].flatMap((one) => feature(world, one).features),
  };
});

/** Towns of 100,000 people and more, the largest first. */
const towns = once(async (): Promise<FeatureCollection<Point>> => {
  const rows = await read<readonly Row[]>(placesUrl);
  return {
    type: 'FeatureCollection',
    features: rows.map(([name, longitude, latitude, population, isCapital]) => ({
      type: 'Feature',
      properties: { name, population, isCapital },
      geometry: { type: 'Point', coordinates: [longitude, latitude] },
    })),
  };
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
    ['towns', towns().then(ownTowns)],
  ] as const;
}
