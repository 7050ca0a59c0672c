// One request of the service and its answer; repeated only where repeating it can do nothing twice.
import { retryDelayMs } from '../../src/core/retry-delay.ts';
import { failureOf, isPassing, leavesOpen, ServiceError, unreachable } from './service-error.ts';

export interface Route {
  readonly method: string;
  /** As it is served, variables as `{name}`. */
  readonly path: string;
  /** It needs no token, and must not carry one. */
  readonly isPublic: boolean;
  /** It changes nothing. */
  readonly isRead: boolean;
  /** The service carries out a change once for each `Idempotency-Key`. */
  readonly isKeyed: boolean;
}

export interface Sent {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly idempotencyKey?: string;
}

export interface Connection {
  /** Address of the service without a slash at its end; empty in a page that it serves. */
  readonly baseUrl: string;
  /** Null: none, the call is sent without. */
  token(): string | null;
  /** Time for which a call is repeated that fails for the moment, ms; 0: never. */
  readonly retryForMs: number;
  /** Gets each answer before it is read. @param token that was sent. */
  onAnswer?(answer: Response, token: string | null): void;
}

/** No request runs longer at the service (`broker/api/base/idempotency.ts`); without an answer by then its connection is given up. */
const answerMs = 60_000;

const retry = { baseMs: 500, capMs: 8000, floorMs: 250 } as const;

/** Full jitter: the clients of a service that restarts must not come back in one instant. @param attempt 0 for the first repetition. */
export const pauseMs = (attempt: number, failure: ServiceError | null): number =>
  Math.max(retryDelayMs(retry, { attempt, fraction: Math.random() }), (failure?.retryAfterS ?? 0) * 1000);

/** @throws the reason of the signal. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    if (signal?.aborted === true) return fail(signal.reason as Error);
    const leave = (): void => {
      clearTimeout(timer);
      fail(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      done();
    }, ms);
    signal?.addEventListener('abort', leave, { once: true });
  });
}

function urlOf({ baseUrl }: Connection, { path }: Route, { params = {}, query = {} }: Sent): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, value);
  return `${baseUrl}${filled}${given.size === 0 ? '' : `?${given.toString()}`}`;
}

/** The answer of a success; its body may go on for as long as it likes once `read` has begun it. */
async function request<T>(
  connection: Connection,
  route: Route,
  sent: Sent,
  read: (answer: Response) => Promise<T>,
): Promise<T> {
  const token = route.isPublic ? null : connection.token();
  // A timer and no timeout signal: in Node nothing holds that one.
  const stop = new AbortController();
  const leave = (): void => stop.abort(sent.signal?.reason);
  const timer = setTimeout(() => stop.abort(unreachable(`no answer within ${answerMs / 1000} s`)), answerMs);
  if (sent.signal?.aborted === true) leave();
  else sent.signal?.addEventListener('abort', leave, { once: true });
  try {
    // The types of Node lack `cache`, so it stands in no literal of theirs.
    const init = {
      method: route.method,
      headers: {
        ...(token === null ? {} : { authorization: token }),
        ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(sent.idempotencyKey === undefined ? {} : { 'idempotency-key': sent.idempotencyKey }),
      },
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
      signal: stop.signal,
      credentials: 'omit',
      cache: 'no-store',
    } as const;
    const answer = await fetch(urlOf(connection, route, sent), init);
    connection.onAnswer?.(answer, token);
    if (!answer.ok) throw await failureOf(answer);
    return await read(answer);
  } catch (thrown) {
    if (sent.signal?.aborted === true) throw sent.signal.reason;
    const failure = thrown instanceof ServiceError ? thrown : unreachable(thrown);
    failure.mayHaveActed = !route.isRead && !route.isPublic && leavesOpen(failure);
    throw failure;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The answer itself, for files and streams: the signal also ends its body. Never repeated.
 * @throws ServiceError; the reason of the signal when it aborts.
 */
export const openAnswer = (connection: Connection, route: Route, sent: Sent): Promise<Response> =>
  request(connection, route, sent, (answer) => Promise.resolve(answer));

/**
 * The content of an answer in JSON. Reads, and changes with an `idempotencyKey`, are repeated for `retryForMs`; no other change is.
 * @throws ServiceError, `mayHaveActed` of all tries; the reason of the signal when it aborts.
 */
export async function callService(connection: Connection, route: Route, sent: Sent): Promise<unknown> {
  const isRepeatable = route.isRead || (route.isKeyed && sent.idempotencyKey !== undefined);
  const untilMs = performance.now() + connection.retryForMs;
  let mayHaveActed = false;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request(connection, route, sent, (answer) => answer.json());
    } catch (thrown) {
      if (!(thrown instanceof ServiceError)) throw thrown;
      mayHaveActed ||= thrown.mayHaveActed;
      thrown.mayHaveActed = mayHaveActed;
      const ms = pauseMs(attempt, thrown);
      if (!isRepeatable || !isPassing(thrown) || performance.now() + ms > untilMs) throw thrown;
      await pause(ms, sent.signal);
    }
  }
}
