// The client of the HTTP service: typed calls, lists page by page, and the live stream. Works in browsers and in Node from 20 on.
import { type FollowedMessage, followStream } from './follow.ts';
import type { Body, OperationID, Params, Query, Result } from './operations.ts';
import { type Connection, callService, openAnswer, type Route, type Sent } from './request.ts';
import type { ServiceError } from './service-error.ts';

/** What a call sends; members without content may be left out. */
export type Input<I extends OperationID> = (keyof Params<I> extends never
  ? unknown
  : { readonly params: Params<I> }) &
  (Body<I> extends undefined ? unknown : { readonly body: Body<I> }) & {
    readonly query?: Query<I>;
    readonly signal?: AbortSignal;
    /** Repeats of one intent carry the same key and take effect once; only with it a change is repeated. */
    readonly idempotencyKey?: string;
  };

/** The input may be left out where nothing in it must be given. */
export type Given<I extends OperationID> =
  Partial<Input<I>> extends Input<I> ? [input?: Input<I>] : [input: Input<I>];

/** Operations whose answers come in pages. */
export type PagedID = {
  [I in OperationID]: Result<I> extends { more?: boolean; next?: string | null }
    ? 'more' extends keyof Result<I>
      ? I
      : never
    : never;
}[OperationID];

/** Data of the messages of the stream. Members may be missing: what did not change, and what `fields` left out. */
interface LiveData {
  /** First of all, and after each interruption. Read what you show once it has come: nothing lies between the two. */
  hello: { eventNo: number };
  /** What was missed is not sent again: read all that you show. */
  reset: { reason: string; hint: string };
  event: Partial<Result<'deviceDataRange'>['eventdata']['devices'][number]>;
  device: Partial<Result<'getDevice'>>;
  command: Partial<Result<'getCommand'>>;
  presence: { deviceID: string; online?: boolean; since?: number; cause?: string };
  approval: Partial<Result<'listApprovals'>['approvals'][number]>;
  alarm: Partial<Result<'listAlarms'>['alarms'][number]>;
  zone: Readonly<Record<string, unknown>>;
  release: Readonly<Record<string, unknown>>;
}

/** Keep `resumeID` when a message has been dealt with, and give it to `follow` after a restart: null before the first resume point. */
export type LiveMessage = {
  [K in keyof LiveData]: {
    readonly kind: K;
    readonly data: LiveData[K];
    readonly resumeID: string | null;
  };
}[keyof LiveData];

export interface FollowInput {
  readonly query?: Query<'streamEvents'>;
  /** Continues behind this message; without it from now on. */
  readonly resumeID?: string | null;
  /** Ends the stream, without an error. */
  readonly signal?: AbortSignal;
  /** `live` only while each second brings a sign of life; `down` until the stream is open again, by itself. */
  onState?(state: 'live' | 'down', failure: ServiceError | null): void;
}

export interface Client<ID extends OperationID = OperationID> {
  /**
   * Reads, and changes with an `idempotencyKey`, are repeated for a while when the service is busy or away.
   * @throws ServiceError
   */
  call<I extends ID>(id: I, ...given: Given<I>): Promise<Result<I>>;
  /** The answer itself, for files: `blob()`, `text()` or `body` of it. Never repeated. @throws ServiceError */
  open<I extends ID>(id: I, ...given: Given<I>): Promise<Response>;
  /** Each page of a list. @throws ServiceError */
  pages<I extends ID & PagedID>(id: I, ...given: Given<I>): AsyncGenerator<Result<I>, void, undefined>;
  /**
   * What happens, while it happens. Opens the stream again when it breaks, and misses nothing: each `event` comes once, the newest state of all
   * else at least once. The message whose loop body threw, or whose process was killed, comes again behind the `resumeID` that you kept.
   * @throws ServiceError when the service refuses it for good.
   */
  follow(input?: FollowInput): AsyncGenerator<LiveMessage, void, undefined>;
}

export interface ClientOptions {
  /** Address of the service, such as `https://fleet.example.com`; left out in a page that it serves. */
  readonly baseUrl?: string;
  /** Of a login or of a program; a function is asked at each request. */
  readonly token?: string | null | (() => string | null);
  /** Time for which a call is repeated that fails for the moment, ms; 30 s unless given, 0: never. */
  readonly retryForMs?: number;
  /** Gets each answer before it is read, and the token that was sent. */
  onAnswer?(answer: Response, token: string | null): void;
}

const liveOf = ({ event, data, resumeID }: FollowedMessage): LiveMessage =>
  ({ kind: event, data: JSON.parse(data) as unknown, resumeID }) as LiveMessage;

/** @param routeOf where an operation is served. */
export function clientOf<ID extends OperationID>(
  options: ClientOptions,
  routeOf: (id: ID | 'streamEvents') => Route,
): Client<ID> {
  const { baseUrl = '', token = null, retryForMs = 30_000, onAnswer } = options;
  const connection: Connection = {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    token: typeof token === 'function' ? token : () => token,
    retryForMs,
    ...(onAnswer === undefined ? {} : { onAnswer }),
  };
  const call = <I extends ID>(id: I, ...[input]: Given<I>): Promise<Result<I>> =>
    callService(connection, routeOf(id), (input ?? {}) as Sent) as Promise<Result<I>>;
  return {
    call,
    open: (id, ...[input]) => openAnswer(connection, routeOf(id), (input ?? {}) as Sent),
    async *pages(id, ...[input]) {
      const { query, ...rest } = (input ?? {}) as Sent;
      for (let cursor = query?.['cursor']; ; ) {
        const asked = { ...rest, query: { ...query, cursor } };
        const page = (await callService(connection, routeOf(id), asked)) as Result<typeof id>;
        yield page;
        const { more, next } = page as { readonly more?: boolean; readonly next?: string | null };
        if (more !== true || next == null) return;
        if (next === cursor)
          throw new Error(`${id} answered with the cursor that it was asked with: ${next}`);
        cursor = next;
      }
    },
    async *follow({ query, resumeID = null, signal, onState } = {}) {
      const stream = followStream({
        resumeID,
        ...(signal === undefined ? {} : { signal }),
        open: (lastEventID, stop) =>
          openAnswer(connection, routeOf('streamEvents'), {
            query: { ...query, lastEventId: lastEventID ?? undefined },
            signal: stop,
          }),
        onAlive: () => onState?.('live', null),
        onDown: (failure) => onState?.('down', failure),
      });
      for await (const messages of stream) for (const message of messages) yield liveOf(message);
    },
  };
}
