// The world map that ships with the console: land and borders of Natural Earth, towns of GeoNames. No request leaves the host.

import placesUrl from 'virtual:places-url';
import type { FeatureCollection, Point } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import fineUrl from 'world-atlas/countries-50m.json?url';
import coarseUrl from 'world-atlas/countries-110m.json?url';
import { retryDelayMs } from '../../../src/core/retry-delay.ts';

type World = Topology<{ countries: GeometryCollection<{ name: string }> }>;
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

async function countries(url: string): Promise<FeatureCollection> {
  const world = await read<World>(url);
  return feature(world, world.objects.countries);
}

/** Countries for a look from far. */
export const coarseCountries = once(() => countries(coarseUrl));

/** Countries for zoom 3 and nearer, 205 kB. */
export const fineCountries = once(() => countries(fineUrl));

/** Towns of 100,000 people and more, the largest first. */
export const towns = once(async (): Promise<FeatureCollection<Point>> => {
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

const degreesMost = 85;

/** Lines of latitude and longitude around a place, one `step` of degrees apart. */
export function graticule(longitude: number, latitude: number, step: number): FeatureCollection {
  const lines: [number, number][][] = [];
  const from = (value: number): number => Math.floor(value / step) * step - 20 * step;
  for (let at = 0; at <= 40; at += 1) {
    const [x, y] = [from(longitude) + at * step, from(latitude) + at * step];
    const [west, south] = [from(longitude), Math.max(-degreesMost, from(latitude))];
    const [east, north] = [west + 40 * step, Math.min(degreesMost, south + 40 * step)];
    lines.push([
      [x, south],
      [x, north],
    ]);
    if (Math.abs(y) <= degreesMost)
      lines.push([
        [west, y],
        [east, y],
      ]);
  }
  const line = { type: 'MultiLineString', coordinates: lines } as const;
  return { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: line }] };
}
