// The towns that ship with the console, GeoNames of 100,000 people and more, the largest first. Read once for all maps and texts.
import placesUrl from 'virtual:places-url';
import { retryDelayMs } from '../../../../src/core/retry-delay.ts';
import { createValue } from '../../state/value.ts';
import type { Town } from './nearest-town.ts';

/** As `vite.config.ts` writes them. */
interface Shipped {
  readonly names: readonly string[];
  readonly longitudes: readonly number[];
  readonly latitudes: readonly number[];
  readonly populationSteps: readonly number[];
  /** Numbers of the towns that are one. */
  readonly capitals: readonly number[];
}

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
  const { names, longitudes, latitudes, populationSteps, capitals } = await readJson<Shipped>(placesUrl);
  const isCapital = new Set(capitals);
  let thousands = 0;
  towns.set(
    names.flatMap((name, at) => {
      const [longitude, latitude, step] = [longitudes[at], latitudes[at], populationSteps[at]];
      if (longitude === undefined || latitude === undefined || step === undefined) return [];
      thousands += step;
      return [
        { name, longitude, latitude, population: thousands * 1000, isCapital: isCapital.has(at) ? 1 : 0 },
      ];
    }),
  );
  return towns.get();
});
