// The settings of a map from another host. Off by default: the console then asks no host but its own. What stands here becomes part of a
// policy header and of every page, so that only what is written exactly as browsers write it passes.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import type { MapStyle } from '../ports/map-style.ts';
import { isLoopback } from './listener-config.ts';

export const mapStyleSchema = Type.Object({
  url: Type.String({
    default: '',
    maxLength: 2000,
    description:
      'MapLibre style (https://tiles.example.com/style.json) that users may choose as their map; their browsers read it. Empty: none',
  }),
  origins: Type.Array(Type.String({ maxLength: 300 }), {
    default: [],
    maxItems: 20,
    description:
      'Origins besides its own that this style may read tiles and pictures from (https://tiles.example.com), with commas between them',
  }),
});

export type MapStyleConfig = Static<typeof mapStyleSchema>;

/** What a policy may name: a name or an address in lower case, no wildcard, and nothing that ends a directive. */
const originPattern = /^https?:\/\/([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/;

function fail(message: string, hint: string): never {
  throw new AppError('config', message, { hint });
}

/** Encrypted, or of a program of this machine. */
const isSafe = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')));

function checkUrl(text: string): void {
  const message = `mapStyle.url ${JSON.stringify(text)}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !isSafe(url) || !originPattern.test(url.origin))
    fail(`${message} is no https URL`, 'Write it in full, as https://tiles.example.com/style.json.');
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    fail(
      `${message} has a user, a password or a fragment`,
      'Leave them out: every user of the console can read it.',
    );
  if (url.href !== text) fail(`${message} is not written as browsers send it`, `Write ${url.href}`);
}

function checkOrigin(text: string): void {
  const message = `mapStyle.origins: ${JSON.stringify(text)}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !isSafe(url) || !originPattern.test(url.origin))
    fail(`${message} is no https origin`, 'List each origin in full, as https://tiles.example.com.');
  if (url.origin !== text) fail(`${message} is not written as browsers send it`, `Write ${url.origin}`);
}

/** @throws AppError `config`. */
export function checkMapStyle({ url, origins }: MapStyleConfig): void {
  for (const origin of origins) checkOrigin(origin);
  if (url !== '') checkUrl(url);
  else if (origins.length > 0)
    fail(
      'mapStyle.origins is set, but mapStyle.url is not',
      'Set mapStyle.url, or leave mapStyle.origins out.',
    );
}

/** Null: no style is configured. */
export function mapStyleOf({ url, origins }: MapStyleConfig): MapStyle | null {
  if (url === '') return null;
  return { url, origins: [...new Set([new URL(url).origin, ...origins])] };
}
