// What an operation of the service is: one literal with its path, rights, schemas, words and handler. Routes,
// validation, 405 answers, the OpenAPI document and the per-operation tests all derive from it. A handler never sees
// an unchecked value, and never sees another account: the account comes from the caller's session only.
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../../src/core/errors.ts';
import type { Clock, Database, Entropy, Log } from '../../src/ports.ts';
import type { BrokerMetrics } from '../broker.ts';
import type { CommandLedger } from '../commands/commands.ts';
import type { RequestDesk } from '../commands/device-requests.ts';
import type { LoginThrottle } from '../core/login-throttle.ts';
import type { Passwords } from '../core/password.ts';
import type { Role } from '../core/session.ts';
import type { EnrolmentService } from '../devices/enrolment.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { LiveHub } from '../live/hub.ts';
import type { Senders } from '../notify/senders.ts';
import type { Scope } from '../store/scope.ts';
import type { LongReads } from '../work/long-reads.ts';

/** Who calls: always from a live session. */
export interface Caller {
  readonly accountID: string;
  readonly userID: string;
  readonly role: Role;
  /** SHA-256 of the token, the key of the session. */
  readonly tokenHash: string;
  /** Which devices the caller may see; every statement about devices takes it. */
  readonly scope: Scope;
}

/** What handlers may use. */
export interface ApiServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** The one way to a vehicle's relays. */
  readonly ledger: Pick<CommandLedger, 'request' | 'enact' | 'cancel' | 'sendMessages'>;
  /** The one way to what units tell when they are asked. */
  readonly requests: Pick<RequestDesk, 'ask'>;
  /** Hosts that firmware may lie at. */
  readonly firmwareHosts: readonly string[];
  readonly ingest: Pick<Ingest, 'submit'>;
  isOnline(accountID: string, deviceID: string): Promise<boolean>;
  /** Ends the device's MQTT connection, if it has one. */
  kick(device: { readonly accountID: string; readonly deviceID: string }, reason: string): void;
  metrics(): BrokerMetrics;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
  readonly enrolment: EnrolmentService;
  readonly live: Pick<LiveHub, 'open'>;
  readonly senders: Pick<Senders, 'email' | 'targets' | 'vapidPublicKey'>;
  /** Deliveries may be due. */
  wakeDelivery(): void;
  readonly longReads: LongReads;
  /** The database for what reads much: lists of events, files, reports. It lets everything else go first. */
  readonly archive: Database;
}

/** `public` needs no token; otherwise the weakest role that may call it. */
export type Access = 'public' | Role;

export const tags = [
  'Authentication',
  'Accounts',
  'Users',
  'Groups',
  'Devices',
  'Geozones',
  'Routes',
  'Events',
  'Reports',
  'Live',
  'Commands',
  'Messages',
  'Notifications',
  'Diagnostics',
  'Audit',
] as const;

/**
 * How a path stands behind the base address: `versioned` `/api/v1/group/...`, `plain` `/group/...`, `joined`
 * `/api/v1group/...` (so the interface writes one of them, with no slash).
 */
export type PathForm = 'versioned' | 'plain' | 'joined';

interface Words {
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
  /** True: the answer carries an ETag, and `If-None-Match` may be answered with 304. */
  readonly isConditional?: boolean;
  /** True: the answer holds a secret that is shown once. It is neither kept for a repeated request nor compressed. */
  readonly answerIsSecret?: boolean;
  /** Media type of an answer that is not JSON; such an answer is streamed and its `result` is a string schema. */
  readonly produces?: StreamType;
  /** A further media type of the body: the text then stands as this member of it. */
  readonly textBody?: { readonly mediaType: 'text/csv'; readonly member: string };
}

export type StreamType = 'text/event-stream' | 'text/csv' | 'application/gpx+xml' | 'application/geo+json';

/** A list that is read page by page while it is sent, so that no answer is ever built in one go. */
export type Pages<T> = AsyncGenerator<readonly T[], void, undefined>;

/** An object that is read page by page while it is sent: names and values of its members, each name once. */
export interface PagedRecord<T> {
  readonly pagedRecord: Pages<readonly [name: string, value: T]>;
}

/** What a handler gives: the result, in which lists may come in pages (at the root or one level below). */
type Answer<T> = T extends string ? AsyncIterable<string> | T : { readonly [K in keyof T]: Paged<T[K]> };
type Paged<T> = T extends readonly (infer I)[]
  ? T | Pages<I>
  : T extends object
    ?
        | T
        | (string extends keyof T ? PagedRecord<T[keyof T]> : never)
        | { readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? T[K] | Pages<I> : T[K] }
    : T;

interface Shape<P extends TObject, B extends TObject | null, R extends TSchema, Q extends TObject> {
  readonly params: P;
  /** Opt-in query parameters, all text and all optional; others are refused. Without it the query is ignored. */
  readonly query?: Q;
  readonly body: B;
  readonly result: R;
}

interface Examples<P, B, R> {
  readonly examples: { readonly params: P; readonly body: B; readonly result: R };
}

type BodyOf<B> = B extends TObject ? Static<B> : null;

interface Input<P, B, C, Q> {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  readonly caller: C;
  /** Address that the call came from. */
  readonly source: string;
  /** What the header `Last-Event-ID` says; null without it. */
  readonly lastEventID: string | null;
}

/** An operation as its literal states it; see `operation`. */
type Definition<
  P extends TObject,
  B extends TObject | null,
  R extends TSchema,
  A extends Access,
  Q extends TObject,
> = Words &
  Shape<P, B, R, Q> &
  Examples<Static<P>, BodyOf<B>, Static<R>> & {
    readonly access: A;
    run(
      input: Input<Static<P>, BodyOf<B>, A extends 'public' ? null : Caller, Static<Q>>,
      services: ApiServices,
    ): Promise<Answer<Static<R>>>;
  };

/** An operation with its types folded away, as the host and the documents use it. */
export interface Operation
  extends Words,
    Shape<TObject, TObject | null, TSchema, TObject>,
    Examples<unknown, unknown, unknown> {
  readonly access: Access;
  run(input: Input<unknown, unknown, Caller | null, unknown>, services: ApiServices): Promise<unknown>;
}

/** Types an operation's literal by its schemas: a wrong result or a misread parameter does not compile. */
export function operation<
  const P extends TObject,
  const B extends TObject | null,
  const R extends TSchema,
  const A extends Access,
  const Q extends TObject = TObject,
>(definition: Definition<P, B, R, A, Q>): Operation {
  // `run` takes narrower input than `Operation` says (methods are bivariant): the host checks params, query and body
  // against these schemas and the caller against `access` before it calls `run`.
  return definition;
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
