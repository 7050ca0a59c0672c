// The web console under `/console/`: files that were read at the start, with a content security policy of their own. Each is compressed
// once for each coding and kept. A path without an ending is a page of its own, or a view of the console and gets its index; anything else
// is not found.
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../../src/core/errors.ts';
import { namesTag } from '../../api/base/answer-tag.ts';
import type { ConsoleFile, ConsoleFiles } from '../../ports/console-files.ts';
import type { MapStyle } from '../../ports/map-style.ts';
import { type Encoding, type Exchange, encodingOf } from './fastify-compress.ts';

/**
 * No inline script or style, no other host. `blob:` and `data:` are pictures that the map makes itself.
 * @param origins what the setting `mapStyle` allows: the page reads them as data only, so that no script, style or frame of theirs runs.
 */
const contentSecurityPolicy = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "media-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The page for people with a share link: it shows the map that ships, and asks no other host whatever is set. */
const sharePage = 'share.html';

/** Headers of documents: browsers apply them to what they show or run as a page (CSP 3 section 4.2, HTML section 7.1, Permissions Policy). */
const headers = {
  // Links of people stand in no search engine.
  'x-robots-tag': 'noindex, nofollow',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const;

/**
 * Destinations of a request (Fetch Metadata section 2.1) whose answer is part of a page and has no policy of its own. A worker is none: its
 * policy comes with its script. Without TLS, and from other clients, no destination is sent.
 */
const partDestinations: ReadonlySet<unknown> = new Set(['script', 'style', 'empty']);

/** Headers that every answer gets and a part of a page has no use for: 60 parts are loaded with a screen. */
const unusedByParts = [
  'content-security-policy',
  'x-frame-options',
  'fleetward-version',
  'fleetward-practice',
  'x-request-id',
] as const;

const brotliOf = promisify(brotliCompress);
const gzipOf = promisify(gzip);
/** Paid once a file. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } } as const;

const pack = (encoding: Encoding, bytes: Buffer): Promise<Buffer> =>
  encoding === 'br' ? brotliOf(bytes, brotliOptions) : gzipOf(bytes, { level: 9 });

/** Compresses each file once for each coding. */
function createPacker() {
  const packed = new Map<string, Promise<Buffer>>();
  return ({ etag, bytes }: ConsoleFile, encoding: Encoding): Promise<Buffer> => {
    const key = `${encoding} ${etag}`;
    const known = packed.get(key) ?? pack(encoding, bytes);
    packed.set(key, known);
    return known;
  };
}

/** The name of the file of a path: itself, the page of that name, or the index for a view. */
function nameOf(files: ConsoleFiles, path: string): string {
  if (/\.[^/]*$/.test(path) || files.has(path)) return path;
  return files.has(`${path}.html`) ? `${path}.html` : 'index.html';
}

/**
 * Adds `/console/`.
 * @param files null: no console is installed, and the answer says so.
 * @param mapStyle null: the console asks no other host.
 */
export function addConsole(
  app: FastifyInstance,
  files: ConsoleFiles | null,
  mapStyle: MapStyle | null,
): void {
  const packed = createPacker();
  const policy = contentSecurityPolicy(mapStyle?.origins ?? []);
  const ownPolicy = contentSecurityPolicy([]);
  const send = async ({ request, reply }: Exchange, path: string): Promise<unknown> => {
    const name = files === null ? path : nameOf(files, path);
    const file = files?.get(name);
    if (file === undefined) {
      throw new AppError(
        'not_found',
        files === null ? 'No console is installed at this service' : `The console has no file ${path}`,
        files === null
          ? { hint: 'Install a release with the console, or name its folder with --console.' }
          : { hint: 'The page may be older than the service: load it again.' },
      );
    }
    const caching = file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache';
    void reply.headers({
      etag: file.etag,
      'cache-control': caching,
      vary: file.isHashed ? 'accept-encoding, sec-fetch-dest' : 'accept-encoding',
    });
    if (file.isHashed && partDestinations.has(request.headers['sec-fetch-dest'])) {
      for (const unused of unusedByParts) void reply.removeHeader(unused);
    } else {
      void reply.headers({
        ...headers,
        'content-security-policy': name === sharePage ? ownPolicy : policy,
      });
    }
    const held = request.headers['if-none-match'];
    if (held !== undefined && namesTag(held, file.etag)) return reply.code(304).send();
    void reply.type(file.type);
    const accepted = request.headers['accept-encoding'];
    const encoding = file.isCompressible && typeof accepted === 'string' ? encodingOf(accepted) : null;
    if (encoding === null) return reply.send(file.bytes);
    return reply.header('content-encoding', encoding).send(await packed(file, encoding));
  };
  app.get('/console', (_request, reply) => reply.redirect('/console/', 308));
  app.get('/console/*', (request, reply) =>
    send({ request, reply }, (request.params as { readonly '*': string })['*']),
  );
}
