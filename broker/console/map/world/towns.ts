// The towns that ship with the console, GeoNames of 100,000 people and more, the largest first. Read once for all maps and texts.
import placesUrl from 'virtual:places-url';
import { retryDelayMs } from '../../../../src/core/retry-delay.ts';
import { createValue } from '../../state/value.ts';
import type { Town } from './nearest-town.ts';

type Row = readonly [name: string, longitude: number, latitude: number, population: number, isCapital: 0 | 1];

export interface ShippedTown extends Town {
  readonly population: number;
  readonly isCapital: 0 | 1;
}

export async function readJson<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  return (await answer.json()) as T;
}

const retry = { baseMs: 4000, capMs: 60_000, floorMs: 2000 } as const;

/** Reads once, again after each failure: a page that opens while the service is away gets its data later. */
export function once<T>(read: () => Promise<T>): () => Promise<T> {
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

/** Empty until they were read. */
export const towns = createValue<readonly ShippedTown[]>([]);

export const readTowns = once(async () => {
  const rows = await readJson<readonly Row[]>(placesUrl);
  towns.set(
    rows.map(([name, longitude, latitude, population, isCapital]) => ({
      name,
      longitude,
      latitude,
      population,
      isCapital,
    })),
  );
  return towns.get();
});
