// Cross-origin requests of web pages (Fetch standard, section 3.2). A page reads answers only when its exact origin is listed; no
// page may unless one is. There is no credentials mode: tokens travel in a header, so a page acts with what it was given and
// never with what a browser holds.
import type { FastifyInstance } from 'fastify';
import type { Operation } from '../../api/base/operation.ts';

/** For how long a browser may keep the answer to a preflight, in s; Chromium keeps none longer. */
const maxAgeS = 7200;

/** Request headers of the operations that a page may not send unasked. */
const requestHeaders = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'last-event-id',
] as const;

/** Answer headers that a page may read beside those that every page may. */
const exposedHeaders = [
  'allow',
  'content-disposition',
  'etag',
  'fleetward-version',
  'idempotency-replayed',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'x-request-id',
] as const;

interface Cors {
  /** Exact origins, as browsers write them; none: nothing is added. */
  readonly origins: readonly string[];
  readonly operations: readonly Operation[];
}

const isListed = (origins: readonly string[], origin: string | undefined): origin is string =>
  origin !== undefined && origins.includes(origin);

/** Adds the headers to every answer, errors too. To be called before hooks that may refuse a request: a page could not read why. */
export function addCorsHeaders(app: FastifyInstance, { origins }: Pick<Cors, 'origins'>): void {
  if (origins.length === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    // An answer differs by origin, also when the request has none or another one: shared caches must know.
    void reply.header('vary', 'origin');
    const { origin } = request.headers;
    if (!isListed(origins, origin)) return;
    void reply.headers({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposedHeaders.join(', '),
    });
  });
}

/** Answers preflights of listed origins, for every path alike; others get 405 like every OPTIONS. */
export function addPreflights(app: FastifyInstance, { origins, operations }: Cors): void {
  if (origins.length === 0) return;
  const methods = [...new Set(['HEAD', ...operations.map(({ method }) => method)])].sort().join(', ');
  app.addHook('onRequest', async (request, reply) => {
    const { origin, 'access-control-request-method': asked } = request.headers;
    if (request.method !== 'OPTIONS' || asked === undefined || !isListed(origins, origin)) return undefined;
    void reply.headers({
      'access-control-allow-methods': methods,
      'access-control-allow-headers': requestHeaders.join(', '),
      'access-control-max-age': String(maxAgeS),
    });
    return reply.code(204).send();
  });
}
