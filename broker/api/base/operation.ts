// The definition of an operation: one literal with its path, rights, schemas, texts and handler. Routes, validation, 405
// answers, the OpenAPI document and the per-operation tests derive from it. A handler never sees an unchecked value, nor
// another account: the account comes from the caller's session only.
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../../../src/core/errors.ts';
import type { Role, TokenScope } from '../../core/accounts/session.ts';
import type { ApiServices } from './api-services.ts';
import type { Caller, LinkCaller } from './caller.ts';
import type { ReadyJson } from './ready-json.ts';

/** `public` needs no token, `share` that of a share link; otherwise the weakest role that may call it. */
export type Access = 'public' | 'share' | Role;

/**
 * What an API token needs to call it. `none`: no token may, a login only; `own`: every token, as it concerns the token itself. `ofDevices`: it reaches
 * devices within the caller's scope only, so a token that names devices may call it too.
 */
export type TokenRight = 'none' | 'own' | { readonly scope: TokenScope; readonly ofDevices: boolean };

export const tags = [
  'Authentication',
  'Accounts',
  'Users',
  'Groups',
  'Devices',
  'Geozones',
  'Drivers',
  'Routes',
  'Events',
  'Reports',
  'Live',
  'Shares',
  'Commands',
  'Releases',
  'Messages',
  'Alarms',
  'Notifications',
  'Diagnostics',
  'Audit',
] as const;

/**
 * How a path stands behind the base address: `versioned` `/api/v1/group/...`, `plain` `/group/...`, `joined`
 * `/api/v1group/...` (so the interface writes one of them, with no slash).
 */
export type PathForm = 'versioned' | 'plain' | 'joined';

interface Identification {
  /** Unique, stable, in camelCase: the `operationId`. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Below `/api/v1`, path variables as `{name}`. */
  readonly path: string;
  /** Every form of the path that is served, the one to show first. */
  readonly forms: readonly PathForm[];
  readonly tag: (typeof tags)[number];
  readonly summary: string;
  /** For integrators: what it does, and every choice where the interface shows nothing. Markdown. */
  readonly description: string;
  /** Codes it may answer with beyond those that its shape implies (token, rights, body). */
  readonly errors: readonly ErrorCode[];
  /** True when a call changes something. Such a GET is idempotent, never cached, and has no HEAD twin. */
  readonly effects: boolean;
  /**
   * True: it may bring a vehicle into its safe state, or keep it from being cut. Such calls have rate limits of their own:
   * what else a token or an address is used for never holds them up.
   */
  readonly isOrder?: boolean;
  /**
   * True: a program of others sends one call for each record. Such calls have a rate of their own, see `intakeFactor`, and their bodies
   * may have members that no version knew when this was written.
   */
  readonly isIntake?: boolean;
  /** True: the answer carries an ETag, and `If-None-Match` may be answered with 304. */
  readonly isConditional?: boolean;
  /** True: `If-Match` is understood: with another ETag than that of the present content nothing is changed (422 `conflict`). */
  readonly takesIfMatch?: boolean;
  /** Seconds that anybody may keep the answer (`public`), only for what is the same for every caller; with an ETag. */
  readonly cacheS?: number;
  /** True: the answer holds a secret that is shown once. It is neither kept for a repeated request nor compressed. */
  readonly answerIsSecret?: boolean;
  /**
   * Member of the body that proves who asks and decides nothing: a repeated request is recognized without it, so that an
   * `Idempotency-Key` neither keeps a hash of it nor shows whether it was right.
   */
  readonly proofMember?: 'password';
  /** Media type of an answer that is not JSON; such an answer is streamed and its `result` is a string schema. */
  readonly produces?: StreamType;
  /** Name of the file that the answer is saved as (RFC 6266); only with `produces`. */
  fileName?(params: Readonly<Record<string, string>>): string;
  /** A further media type of the body: the text then stands as this member of it. */
  readonly textBody?: { readonly mediaType: TextMediaType; readonly member: string };
}

export const textMediaTypes = ['text/csv', 'application/x-www-form-urlencoded'] as const;
export type TextMediaType = (typeof textMediaTypes)[number];

export type StreamType = 'text/event-stream' | 'text/csv' | 'application/gpx+xml' | 'application/geo+json';

/** A list that is read page by page while it is sent, so that no answer is ever built in one go. */
export type Pages<T> = AsyncGenerator<readonly T[], void, undefined>;

/**
 * An object that is read page by page while it is sent: names and values of its members, each name once. Its names must be those of the
 * schema; it is read after what stands before it.
 */
export interface PagedRecord<T> {
  readonly pagedRecord: Pages<readonly [name: string, value: T]>;
}

/**
 * A list whose items are JSON text already, some buffers at a time: UTF-8 with a comma before each item. There may be none at a
 * time; no buffer is empty.
 */
export interface WrittenList<T> {
  readonly writtenItems: AsyncGenerator<readonly Uint8Array[], void, undefined>;
  /** Never there: names the type of the items. */
  readonly item?: T;
}

/** What a handler gives: the result, in which lists may come in pages (at the root or one level below). */
type Answer<T> = T extends string
  ? AsyncIterable<string> | AsyncIterable<Uint8Array> | T
  : { readonly [K in keyof T]: Paged<T[K]> };
type Paged<T> = T extends readonly (infer I)[]
  ? T | Pages<I> | WrittenList<I>
  : T extends object
    ?
        | T
        | PagedRecord<T[keyof T]>
        | {
            readonly [K in keyof T]: T[K] extends readonly (infer I)[]
              ? T[K] | Pages<I> | WrittenList<I>
              : T[K];
          }
    : T;

interface Shape<P extends TObject, B extends TObject | null, R extends TSchema, Q extends TObject> {
  readonly params: P;
  /** Opt-in query parameters, all text and all optional; others are refused unless its schema allows them. Without it every one is. */
  readonly query?: Q;
  readonly body: B;
  readonly result: R;
}

interface Examples<P, B, R> {
  /** What the schemas do not say: see `completeExamples`. */
  readonly examples?: {
    readonly params?: P;
    readonly body?: B;
    readonly result?: R extends object ? Partial<R> : R;
  };
}

interface WholeExamples {
  readonly params: unknown;
  readonly body: unknown;
  readonly result: unknown;
}

type BodyOf<B> = B extends TObject ? Static<B> : null;

interface Input<P, B, C, Q> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: C;
  /** Address that the call came from. */
  readonly source: string;
  /** When the call was taken up, as a point in the order of arrival: see `CommandLedger.arrived`. */
  readonly arrivedUs: number;
  /** What the header `Last-Event-ID` says; null without it. */
  readonly lastEventID: string | null;
  /** What the header `If-Match` says, for an operation that takes it; null without it. */
  readonly ifMatch: string | null;
  /** What the client calls itself; null when it says nothing. */
  readonly userAgent: string | null;
  /** Gives the signal that aborts when the answer has ended, also because the client left: what a call holds is tied to it. */
  readonly until: () => AbortSignal;
}

/** Every operation with a session says what a token needs; the others know no API token. */
type TokenMember<A extends Access> = A extends Role ? { readonly token: TokenRight } : unknown;

type CallerOf<A extends Access> = A extends 'public' ? null : A extends 'share' ? LinkCaller : Caller;

/** An operation as its literal states it; see `operation`. */
type Definition<
  P extends TObject,
  B extends TObject | null,
  R extends TSchema,
  A extends Access,
  Q extends TObject,
> = Identification &
  Shape<P, B, R, Q> &
  Examples<Static<P>, BodyOf<B>, Static<R>> &
  TokenMember<A> & {
    readonly access: A;
    run(
      input: Input<Static<P>, BodyOf<B>, CallerOf<A>, Static<Q>>,
      services: ApiServices,
    ): Promise<Answer<Static<R>> | ReadyJson>;
  };

/** An operation with its types folded away, as the host and the documents use it. */
export interface Operation extends Identification, Shape<TObject, TObject | null, TSchema, TObject> {
  readonly examples: WholeExamples;
  readonly access: Access;
  /** Absent: no API token may call it. */
  readonly token?: TokenRight;
  run(input: Input<unknown, unknown, Caller | null, unknown>, services: ApiServices): Promise<unknown>;
}

/** An operation with its own id, path and schemas, from which a client that is compiled beside it takes its types. */
export interface TypedOperation<
  I extends string,
  M extends 'GET' | 'POST',
  T extends string,
  P extends TObject,
  B extends TObject | null,
  R extends TSchema,
  Q extends TObject,
> extends Operation {
  readonly id: I;
  readonly method: M;
  readonly path: T;
  readonly params: P;
  readonly query?: Q;
  readonly body: B;
  readonly result: R;
}

/** Of path variables that mean the same everywhere: the truck of all examples. */
const variables: Readonly<Record<string, string>> = {
  accountID: 'acme',
  deviceID: 'truck-17',
  startTime: '1763680000',
  endTime: '0',
};

/** The one value of a constant; null where a member may be null; false. */
function plainValue(schema: TSchema): unknown {
  const {
    const: only,
    anyOf = [],
    type,
  } = schema as { const?: unknown; anyOf?: { type?: string }[]; type?: string };
  if (only !== undefined) return only;
  if (anyOf.some((one) => one.type === 'null')) return null;
  return type === 'boolean' ? false : undefined;
}

/** In the order of the schema. */
function completed({ properties, required }: TObject, given: object): object {
  const named = Object.entries(properties).map(([name, schema]) => {
    return [name, required.includes(name) ? plainValue(schema) : undefined] as const;
  });
  const plain = named.filter(([name, value]) => value !== undefined || name in given);
  return { ...Object.fromEntries(plain), ...given };
}

/** Completes examples by the schemas. What neither gives is left out, and the test of the examples fails. */
function completeExamples(
  { params, body, result }: { params: TObject; body: TObject | null; result: TSchema },
  given: Partial<WholeExamples> = {},
): WholeExamples {
  const named = Object.keys(params.properties).map((name) => [name, variables[name]] as const);
  return {
    params: given.params ?? Object.fromEntries(named.filter(([, value]) => value !== undefined)),
    body: given.body ?? (body === null ? null : {}),
    result: 'properties' in result ? completed(result as TObject, given.result ?? {}) : given.result,
  };
}

/** Types an operation's literal by its schemas: a wrong result or a misread parameter does not compile. */
export function operation<
  const I extends string,
  const M extends 'GET' | 'POST',
  const T extends string,
  const P extends TObject,
  const B extends TObject | null,
  const R extends TSchema,
  const A extends Access,
  const Q extends TObject = TObject,
>(
  definition: Definition<P, B, R, A, Q> & { readonly id: I; readonly method: M; readonly path: T },
): TypedOperation<I, M, T, P, B, R, Q> {
  // `run` takes narrower input than `Operation` says (methods are bivariant): the host checks params, query and body
  // against these schemas and the caller against `access` before it calls `run`.
  return { ...definition, examples: completeExamples(definition, definition.examples) };
}

/** Names of the variables of a path, in order. */
export function pathVariables(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

const prefixes: Readonly<Record<PathForm, string>> = { versioned: '/api/v1/', plain: '/', joined: '/api/v1' };

/** Every path an operation is served at, in the order of its forms. */
export function servedPaths(definition: Pick<Operation, 'path' | 'forms'>): readonly string[] {
  return definition.forms.map((form) => `${prefixes[form]}${definition.path.slice(1)}`);
}
