// The towns that ship with the console, GeoNames of 100,000 people and more, in bands from west to east. Each is read once for all maps and
// texts.
import placesUrls from 'virtual:places-urls';
import { retryDelayMs } from '../../../../src/core/retry-delay.ts';
import { createValue } from '../../state/value.ts';
import type { Town } from './nearest-town.ts';

/** A band, as `vite.config.ts` writes it. */
interface Shipped {
  readonly names: readonly string[];
  readonly longitudeSteps: readonly number[];
  readonly latitudes: readonly number[];
  readonly thousands: readonly number[];
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

/** The towns of each band; undefined until it was read. */
export const townBands = createValue<readonly (readonly ShippedTown[] | undefined)[]>([]);

const readBands = placesUrls.map((url, band) =>
  once(async (): Promise<readonly ShippedTown[]> => {
    const { names, longitudeSteps, latitudes, thousands, capitals } = await readJson<Shipped>(url);
    const isCapital = new Set(capitals);
    let longitude = 0;
    const towns = names.map((name, at): ShippedTown => {
      longitude += longitudeSteps[at] ?? 0;
      return {
        name,
        longitude: longitude / 100,
        latitude: (latitudes[at] ?? 0) / 100,
        population: (thousands[at] ?? 0) * 1000,
        isCapital: isCapital.has(at) ? 1 : 0,
      };
    });
    const known = townBands.get();
    townBands.set(placesUrls.map((_, one) => (one === band ? towns : known[one])));
    return towns;
  }),
);

/** @param bands all, where none are given. */
export async function readTowns(bands?: readonly number[]): Promise<readonly ShippedTown[]> {
  const wanted = readBands.filter((_, band) => bands?.includes(band) ?? true);
  return (await Promise.all(wanted.map((read) => read()))).flat();
}
