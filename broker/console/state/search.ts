// Members of an address: how each is read, and the same without one. Pure.
import { parsePicked } from './device-view.ts';

/** What else stands in the address counts as absent. */
type Parse<T> = (value: unknown) => T | undefined;

export type Parsers = Readonly<Record<string, Parse<unknown>>>;

/** The search of an address; a member that is absent is undefined. */
type SearchOf<P extends Parsers> = { [K in keyof P]?: Exclude<ReturnType<P[K]>, undefined> };

/**
 * Reads the named members. An absent one is undefined and not left out: the router lays the result over what the address holds, which
 * would show through.
 */
export const searchOf =
  <P extends Parsers>(parsers: P) =>
  (given: Readonly<Record<string, unknown>>): SearchOf<P> =>
    Object.fromEntries(
      Object.entries(parsers).map(([name, parse]) => [name, parse(given[name])]),
    ) as SearchOf<P>;

const stringOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** A text that a parser takes: it gives something. */
export const parsedBy =
  (parse: (given: string) => unknown): Parse<string> =>
  (value) => {
    const given = stringOf(value);
    return parse(given) ? given : undefined;
  };

/** At most 200 characters. */
export const text = parsedBy((given) => given.length <= 200 && given);

/** A whole number above 0 and below a limit. */
export const whole =
  (below: number): Parse<number> =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value > 0 && value < below ? value : undefined;

/** Epoch seconds. */
export const epoch = whole(1e11);

/** The number of a column of a table, from 1; below 0: from its greatest value down. */
export const column: Parse<number> = (value) =>
  typeof value === 'number' && /^-?[1-9]$/.test(String(value)) ? value : undefined;

export const oneOf =
  <T extends string>(values: readonly T[]): Parse<T> =>
  (value) =>
    values.find((one) => one === value);

/** Picked devices or alarms. */
export const picked: Parse<string> = (value) => parsePicked(stringOf(value)).join(',') || undefined;

/** The same without one member. */
export function without<T extends object, K extends keyof T>(members: T, name: K): Omit<T, K> {
  const rest = { ...members };
  delete rest[name];
  return rest;
}
