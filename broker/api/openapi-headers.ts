// Headers in the OpenAPI document: those that the host reads and sends for every operation of a kind, once under
// `components`. Unused headers are left out.
import { takesKey } from './base/idempotency.ts';
import type { Operation } from './base/operation.ts';

type Json = Readonly<Record<string, unknown>>;

const isGuarded = ({ access }: Operation): boolean => access !== 'public';
const isConditional = (operation: Operation): boolean => operation.isConditional === true;
const takesIfMatch = (operation: Operation): boolean => operation.takesIfMatch === true;
const isKept = (operation: Operation): boolean => operation.cacheS !== undefined;
const isFile = (operation: Operation): boolean => operation.fileName !== undefined;

/** True when `Idempotency-Key` means something: the key belongs to the caller. */
export const isKeyed = (operation: Operation): boolean => isGuarded(operation) && takesKey(operation);

/** What is sent, by its name under `components`. */
const answerHeaders: Readonly<Record<string, Json>> = {
  RequestId: {
    description: 'Names the request in the service log',
    schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
    example: '5b1f0c9a2d7e4836',
  },
  NoStore: {
    description: 'Always `no-store`: the answer is never to be kept',
    schema: { type: 'string', const: 'no-store' },
  },
  Revalidate: {
    description:
      'Always `private, no-cache`: keep it for yourself, and ask with its `ETag` before you use it again',
    schema: { type: 'string', const: 'private, no-cache' },
  },
  Keep: {
    description: 'How long anybody may keep the answer; after that ask with its `ETag`',
    schema: { type: 'string' },
    example: 'public, max-age=3600',
  },
  Disposition: {
    description: 'Name of the file to save the answer as, in ASCII and in UTF-8 (RFC 6266)',
    schema: { type: 'string' },
    example:
      'attachment; filename="truck-17_20251121T000000Z_20251122T000000Z.csv"; filename*=UTF-8\'\'truck-17_20251121T000000Z_20251122T000000Z.csv',
  },
  ETag: {
    description: 'Names this content; send it as `If-None-Match` next time',
    schema: { type: 'string' },
    example: 'W/"mYb2Zb4Jc3pUuTj0o5vQkYzT8aE"',
  },
  RateLimit: {
    description:
      'Requests left with this token, and seconds until all are there again; `orders` in the place of `token`: commands to vehicles, which are counted for themselves',
    schema: { type: 'string' },
    example: '"token";r=59;t=1',
  },
  RateLimitPolicy: {
    description: 'How many requests a token may send in how many seconds; `orders`: commands to vehicles',
    schema: { type: 'string' },
    example: '"token";q=60;w=2',
  },
  Replayed: {
    description:
      'Present when this is the kept answer of an earlier request with the same key; nothing was done now',
    schema: { type: 'string', const: 'true' },
  },
  Challenge: {
    description: 'The kind of token that is wanted',
    schema: { type: 'string' },
    example: 'Bearer realm="fleetward"',
  },
  RetryAfter: {
    description: 'Seconds to wait before trying again',
    schema: { type: 'integer', minimum: 1 },
    example: 5,
  },
};

const optional = { in: 'header', required: false } as const;

/** What is understood, by its name under `components`. */
const requestHeaders: Readonly<Record<string, Json>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    ...optional,
    // No example: the page at /docs would send it with every request, and the second one would not be carried out.
    description: `A random text of your own for one thing that you want done, best a UUID. A request that is sent again
with the same key within 24 hours is answered like the first and not carried out again.`,
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    ...optional,
    description: 'The `ETag` of an answer that you hold; 304 says that it is still right',
    schema: { type: 'string' },
    example: 'W/"mYb2Zb4Jc3pUuTj0o5vQkYzT8aE"',
  },
  IfMatch: {
    name: 'If-Match',
    ...optional,
    description:
      'The `ETag` of what you have read; with another one than that of the present content nothing is changed',
    schema: { type: 'string' },
    example: 'W/"mYb2Zb4Jc3pUuTj0o5vQkYzT8aE"',
  },
};

const sent = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
const understood = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

/** Headers of a successful answer, and of a 304. */
export function successHeaders(operation: Operation): Json {
  return {
    'X-Request-Id': sent('RequestId'),
    'Cache-Control': sent(isKept(operation) ? 'Keep' : isConditional(operation) ? 'Revalidate' : 'NoStore'),
    ...(isFile(operation) ? { 'Content-Disposition': sent('Disposition') } : {}),
    ...(isConditional(operation) ? { ETag: sent('ETag') } : {}),
    ...(isGuarded(operation)
      ? { RateLimit: sent('RateLimit'), 'RateLimit-Policy': sent('RateLimitPolicy') }
      : {}),
    ...(isKeyed(operation) ? { 'Idempotency-Replayed': sent('Replayed') } : {}),
  };
}

/** Headers of a failing answer. */
export function failureHeaders(status: number): Json {
  return {
    'X-Request-Id': sent('RequestId'),
    'Cache-Control': sent('NoStore'),
    ...(status === 401 ? { 'WWW-Authenticate': sent('Challenge') } : {}),
    ...(status === 503 ? { 'Retry-After': sent('RetryAfter') } : {}),
  };
}

/** Headers of a request, as parameters. */
export function headerParameters(operation: Operation): readonly Json[] {
  return [
    ...(isKeyed(operation) ? [understood('IdempotencyKey')] : []),
    ...(isConditional(operation) ? [understood('IfNoneMatch')] : []),
    ...(takesIfMatch(operation) ? [understood('IfMatch')] : []),
  ];
}

/** The headers that these operations refer to, for `components`. */
export function headerComponents(operations: readonly Operation[]): {
  readonly headers: Json;
  readonly parameters: Json;
} {
  const without: readonly [boolean, readonly string[]][] = [
    [operations.some(isGuarded), ['RateLimit', 'RateLimitPolicy', 'Challenge']],
    [operations.some(isKeyed), ['Replayed', 'IdempotencyKey']],
    [operations.some(isKept), ['Keep']],
    [operations.some(isFile), ['Disposition']],
    [operations.some(isConditional), ['Revalidate', 'ETag', 'IfNoneMatch']],
    [operations.some(takesIfMatch), ['IfMatch']],
  ];
  const unused = new Set(without.flatMap(([isUsed, names]) => (isUsed ? [] : names)));
  const used = (all: Readonly<Record<string, Json>>): Json =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !unused.has(name)));
  return { headers: used(answerHeaders), parameters: used(requestHeaders) };
}
