// What an operation of the service is: one literal with its path, rights, schemas, words and handler. Routes,
// validation, 405 answers, the OpenAPI document and the per-operation tests all derive from it. A handler never sees
// an unchecked value, and never sees another account: the account comes from the caller's session only.
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../../src/core/errors.ts';
import type { Clock, Database, Entropy, Log } from '../../src/ports.ts';
import type { LoginThrottle } from '../core/login-throttle.ts';
import type { Passwords } from '../core/password.ts';
import type { Role } from '../core/session.ts';
import type { CommandRow } from '../store/commands.ts';

/** Who calls: always from a live session. */
export interface Caller {
  readonly accountID: string;
  readonly userID: string;
  readonly role: Role;
  /** SHA-256 of the token, the key of the session. */
  readonly tokenHash: string;
}

/** Issues commands to devices; the broker's command ledger. */
interface CommandIssuer {
  request(command: {
    readonly accountID: string;
    readonly deviceID: string;
    readonly feature: CommandRow['feature'];
    readonly state: CommandRow['state'];
    readonly issuer: string;
    readonly reason: string;
    readonly ttlS?: number;
  }): Promise<CommandRow>;
}

/** What handlers may use. */
export interface ApiServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly ledger: CommandIssuer;
  readonly passwords: Passwords;
  readonly throttle: LoginThrottle;
}

/** `public` needs no token; otherwise the weakest role that may call it. */
export type Access = 'public' | Role;

export const tags = ['Authentication', 'Devices', 'Events', 'Commands'] as const;

interface Words {
  /** Unique, stable, in camelCase: the `operationId`. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** Below `/api/v1`, path variables as `{name}`. */
  readonly path: string;
  /** True where the interface also lists the path without `/api/v1`. */
  readonly plainForm: boolean;
  readonly tag: (typeof tags)[number];
  readonly summary: string;
  /** For integrators: what it does, and every choice where the interface shows nothing. Markdown. */
  readonly description: string;
  /** Codes it may answer with beyond those that its shape implies (token, rights, body). */
  readonly errors: readonly ErrorCode[];
  /** True when a call changes something. Such a GET is idempotent, never cached, and has no HEAD twin. */
  readonly effects: boolean;
}

interface Shape<P extends TObject, B extends TObject | null, R extends TSchema> {
  readonly params: P;
  readonly body: B;
  readonly result: R;
}

interface Examples<P, B, R> {
  readonly examples: { readonly params: P; readonly body: B; readonly result: R };
}

type BodyOf<B> = B extends TObject ? Static<B> : null;

interface Input<P, B, C> {
  readonly params: P;
  readonly body: B;
  readonly caller: C;
  /** Address that the call came from. */
  readonly source: string;
}

/** An operation as its literal states it; see `operation`. */
type Definition<P extends TObject, B extends TObject | null, R extends TSchema, A extends Access> = Words &
  Shape<P, B, R> &
  Examples<Static<P>, BodyOf<B>, Static<R>> & {
    readonly access: A;
    run(
      input: Input<Static<P>, BodyOf<B>, A extends 'public' ? null : Caller>,
      services: ApiServices,
    ): Promise<Static<R>>;
  };

/** An operation with its types folded away, as the host and the documents use it. */
export interface Operation
  extends Words,
    Shape<TObject, TObject | null, TSchema>,
    Examples<unknown, unknown, unknown> {
  readonly access: Access;
  run(input: Input<unknown, unknown, Caller | null>, services: ApiServices): Promise<unknown>;
}

/** Types an operation's literal by its schemas: a wrong result or a misread parameter does not compile. */
export function operation<
  const P extends TObject,
  const B extends TObject | null,
  const R extends TSchema,
  const A extends Access,
>(definition: Definition<P, B, R, A>): Operation {
  // `run` takes narrower input than `Operation` says (methods are bivariant): the host checks params and body against
  // these schemas and the caller against `access` before it calls `run`.
  return definition;
}

/** Names of the variables of a path, in order. */
export function pathVariables(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

/** Every path an operation is served at, versioned form first. */
export function servedPaths(definition: Pick<Operation, 'path' | 'plainForm'>): readonly string[] {
  return definition.plainForm
    ? [`/api/v1${definition.path}`, definition.path]
    : [`/api/v1${definition.path}`];
}
