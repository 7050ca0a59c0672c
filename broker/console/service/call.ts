// Calls of operations with the token of the session. An answer that is no success becomes a ServiceError with the service's own texts.
import { type Input, type OperationID, type Result, routes } from '../api/operations.ts';
import {
  compareClocks,
  handleRefusal,
  isEnded,
  practiceAccount,
  session,
  sessionToken,
  whenSessionBack,
} from './session.ts';

export const serviceBase = '/api/v1';

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly hint: string | null;
}

/** A call that failed. `code` is the service's, `unreachable` without an answer. */
export class ServiceError extends Error {
  readonly code: string;
  readonly hint: string | null;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** Seconds to wait before the next try; null when the service names none. */
  readonly retryAfterS: number | null;
  /** A change that was sent, and whose answer does not say that nothing was done: it may still be carried out. */
  mayHaveActed = false;
  constructor({ code, detail, hint }: Problem, status: number, retryAfterS: number | null = null) {
    super(detail);
    this.code = code;
    this.hint = hint;
    this.status = status;
    this.retryAfterS = retryAfterS;
  }
}

interface Sent {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly idempotencyKey?: string;
}

/** Calls without a session: they carry no token, and a refusal ends none. */
const publicCalls: ReadonlySet<OperationID> = new Set([
  'login',
  'loginWays',
  'loginByCode',
  'beginPasskeyLogin',
  'loginByPasskey',
  'beginProviderLogin',
  'finishProviderLogin',
]);

/** Served under the path of the former interface only, which has no slash after the version. */
const joinedCalls: ReadonlySet<OperationID> = new Set(['unregisterPush']);

export function pathOf(template: string, { params = {}, query = {} }: Sent): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return `${serviceBase}${path}${given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`}`;
}

export async function failureOf(answer: Response): Promise<ServiceError> {
  const body = (await answer.json().catch(() => null)) as { readonly error?: Partial<Problem> } | null;
  const { code = 'internal', detail = `HTTP ${answer.status}`, hint = null } = body?.error ?? {};
  const wait = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return new ServiceError({ code, detail, hint }, answer.status, Number.isNaN(wait) ? null : wait);
}

/** No request runs longer at the service (`broker/api/base/idempotency.ts`); without an answer by then its connection is given up. */
const answerMs = 60_000;

/** Reads that have no answer yet. */
const reads = new Set<AbortController>();

/** Gives up all reads: a browser has six connections to a service, and what a silent one holds up must not wait for them. */
export function abandonReads(): void {
  for (const read of reads) read.abort();
}

/** A broken connection and a proxy's time-out leave open whether the service acted; of its own answers `throttled` says that it did not. */
const leavesOpen = ({ status, code }: ServiceError): boolean =>
  status === 0 || status === 408 || (status >= 500 && code !== 'throttled');

/** A read that an ended session refuses waits for the next session of the same user. @throws what `read` throws. */
export async function readInSession<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    await whenSessionBack(signal);
    signal?.throwIfAborted();
    const token = sessionToken();
    try {
      return await read();
    } catch (thrown) {
      // A late refusal of the former token may come when the next session has begun.
      const isOver = session.get() === null || sessionToken() === token;
      if (!(thrown instanceof ServiceError) || thrown.status !== 401 || isOver) throw thrown;
    }
  }
}

/** @throws ServiceError; a token that is no longer valid ends the session. */
export function call<I extends OperationID>(id: I, input: Input<I>): Promise<Result<I>> {
  if (publicCalls.has(id)) return callOnce(id, input);
  if (routes[id].startsWith('GET ')) return readInSession(() => callOnce(id, input), (input as Sent).signal);
  if (!isEnded.get()) return callOnce(id, input);
  // A change is never kept for later: only a new press sends it.
  const problem = { code: 'unauthorized', detail: 'The session has ended', hint: null };
  return Promise.reject(new ServiceError(problem, 401));
}

async function callOnce<I extends OperationID>(id: I, input: Input<I>): Promise<Result<I>> {
  const sent: Sent = input as Sent;
  const [method = 'GET', template = ''] = routes[id].split(' ');
  const isPublic = publicCalls.has(id);
  const token = isPublic ? null : sessionToken();
  const path = pathOf(template, sent);
  const isRead = method === 'GET';
  const giveUp = new AbortController();
  if (isRead) reads.add(giveUp);
  const signals = [
    giveUp.signal,
    AbortSignal.timeout(answerMs),
    ...(sent.signal === undefined ? [] : [sent.signal]),
  ];
  try {
    const answer = await fetch(joinedCalls.has(id) ? path.replace(`${serviceBase}/`, serviceBase) : path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: token }),
        ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(sent.idempotencyKey === undefined ? {} : { 'idempotency-key': sent.idempotencyKey }),
      },
      ...(sent.body === undefined ? {} : { body: JSON.stringify(sent.body) }),
      signal: AbortSignal.any(signals),
      credentials: 'omit',
      cache: 'no-store',
    });
    practiceAccount.set(answer.headers.get('fleetward-practice'));
    compareClocks(answer.headers.get('date'));
    if (answer.ok) return (await answer.json()) as Result<I>;
    if (answer.status === 401) handleRefusal(token);
    throw await failureOf(answer);
  } catch (thrown) {
    if (sent.signal?.aborted === true) throw thrown;
    const failure =
      thrown instanceof ServiceError
        ? thrown
        : new ServiceError({ code: 'unreachable', detail: String(thrown), hint: null }, 0);
    failure.mayHaveActed = !isRead && !isPublic && leavesOpen(failure);
    throw failure;
  } finally {
    reads.delete(giveUp);
  }
}
