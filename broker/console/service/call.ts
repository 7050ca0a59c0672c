// Calls of operations with the token of the session.
import { clientOf } from '../../client/client.ts';
import type { Route } from '../../client/request.ts';
import { ServiceError, unreachable } from '../../client/service-error.ts';
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

export { ServiceError } from '../../client/service-error.ts';

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

function routeOf(id: OperationID): Route {
  const [method = '', path = ''] = routes[id].split(' ');
  const isRead = method === 'GET';
  const served = joinedCalls.has(id) ? path.slice(1) : path;
  return { method, path: `/api/v1${served}`, isPublic: publicCalls.has(id), isRead, isKeyed: !isRead };
}

/** Nothing is repeated by itself: a screen says what failed, and its user decides. */
const client = clientOf<OperationID>(
  {
    token: sessionToken,
    retryForMs: 0,
    onAnswer(answer, token) {
      practiceAccount.set(answer.headers.get('fleetward-practice'));
      compareClocks(answer.headers.get('date'));
      if (answer.status === 401) handleRefusal(token);
    },
  },
  routeOf,
);

export const { open } = client;

/** Reads that have no answer yet. */
const reads = new Set<AbortController>();

/** Gives up all reads: a browser has six connections to a service, and what a silent one holds up must not wait for them. */
export function abandonReads(): void {
  for (const read of reads) read.abort(unreachable('given up for an order'));
}

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
  if (!routes[id].startsWith('GET ')) {
    if (publicCalls.has(id) || !isEnded.get()) return callOnce(id, input);
    // A change is never kept for later: only a new press sends it.
    const problem = { code: 'unauthorized', detail: 'The session has ended', hint: null };
    return Promise.reject(new ServiceError(problem, 401));
  }
  const read = (): Promise<Result<I>> => readOnce(id, input);
  return publicCalls.has(id) ? read() : readInSession(read, input.signal);
}

const callOnce = client.call;

async function readOnce<I extends OperationID>(id: I, input: Input<I>): Promise<Result<I>> {
  const giveUp = new AbortController();
  reads.add(giveUp);
  const { signal = giveUp.signal } = input;
  try {
    return await callOnce(id, { ...input, signal: AbortSignal.any([signal, giveUp.signal]) });
  } finally {
    reads.delete(giveUp);
  }
}
