// The HTTP service as the simulator uses it: logs in like anybody, asks again when it is told to wait or the service is away for
// a while, and never longer than it was given. Secrets and tokens are never written anywhere.
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../src/core/errors.ts';

export interface Login {
  readonly accountID: string;
  readonly userID: string;
  readonly password: string;
}

export interface ServiceCall {
  readonly method?: 'GET' | 'POST';
  /** Below `/api/v1`. */
  readonly path: string;
  readonly body?: unknown;
  /** Text that is sent as it is, with its type. */
  readonly text?: { readonly mediaType: string; readonly content: string };
  /** How long it may be tried again while the service is away or says wait, ms; 60 s unless given, 0: once. */
  readonly patienceMs?: number;
}

export interface Service {
  /** The JSON of the answer. @throws AppError with the service's words; `unavailable` when patience ran out. */
  call<T>(call: ServiceCall): Promise<T>;
  /** An open answer, to be read while it comes. @throws AppError. */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Makes further tokens, so that more requests a second are taken. They are revoked by `close`. */
  widen(tokens: number): Promise<void>;
  close(): Promise<void>;
}

const standardPatienceMs = 60_000;
const answerMs = 120_000;
const waitMostMs = 5000;

/** Waiting makes sense: throttled, starting, or stopped for a moment. */
const isPassing = (status: number): boolean => status === 503 || status === 502 || status === 504;

interface Failure {
  readonly error: AppError;
  /** Null: to ask again makes no sense. */
  readonly waitMs: number | null;
}

async function failureOf(call: ServiceCall, response: Response): Promise<Failure> {
  const text = await response.text().catch(() => '');
  let words = text.slice(0, 300);
  try {
    const { error } = JSON.parse(text) as { error?: { detail?: string; hint?: string | null } };
    words = [error?.detail, error?.hint].filter((part) => typeof part === 'string').join(' ');
  } catch {
    // Not ours: the text as it came has to do.
  }
  const error = new AppError(
    isPassing(response.status) ? 'unavailable' : 'invalid_content',
    `${call.method ?? 'GET'} ${call.path}: ${response.status} ${words}`,
  );
  const afterS = Number(response.headers.get('retry-after') ?? 1);
  const waitMs = Math.min(waitMostMs, (Number.isFinite(afterS) ? Math.max(0.1, afterS) : 1) * 1000);
  return { error, waitMs: isPassing(response.status) ? waitMs : null };
}

async function attempt(
  base: string,
  call: ServiceCall,
  token: string | null,
): Promise<{ answer: unknown } | Failure> {
  const { method = 'GET', path, body, text } = call;
  const headers = {
    ...(token === null ? {} : { authorization: token }),
    ...(text === undefined ? {} : { 'content-type': text.mediaType }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const payload = text?.content ?? (body === undefined ? undefined : JSON.stringify(body));
  const init = { method, headers, signal: AbortSignal.timeout(answerMs) };
  try {
    const response = await fetch(
      `${base}/api/v1${path}`,
      payload === undefined ? init : { ...init, body: payload },
    );
    if (!response.ok) return await failureOf(call, response);
    return { answer: await response.json() };
  } catch (thrown) {
    const reason =
      thrown instanceof Error && thrown.cause instanceof Error ? messageOf(thrown.cause) : messageOf(thrown);
    const hint = `Is there a Fleetward broker at ${base}?`;
    return { error: new AppError('unavailable', `${method} ${path}: ${reason}`, { hint }), waitMs: 500 };
  }
}

async function insist(base: string, call: ServiceCall, token: () => string | null): Promise<unknown> {
  const untilMs = Date.now() + (call.patienceMs ?? standardPatienceMs);
  for (;;) {
    const outcome = await attempt(base, call, token());
    if ('answer' in outcome) return outcome.answer;
    if (outcome.waitMs === null || Date.now() + outcome.waitMs > untilMs) throw outcome.error;
    await sleep(outcome.waitMs);
  }
}

/** Logs in. @param base such as `http://127.0.0.1:8080`. @throws AppError. */
export async function openService(base: string, login: Login): Promise<Service> {
  const root = base.replace(/\/+$/, '');
  const begun = await insist(
    root,
    { method: 'POST', path: '/auth/login', body: login, patienceMs: 20_000 },
    () => null,
  );
  const first = (begun as { token: string }).token;
  const extra: { token: string; tokenID: string }[] = [];
  let turn = 0;
  /** A token with few requests a second of its own: they take turns. */
  const next = (): string => {
    turn = (turn + 1) % (extra.length + 1);
    return extra[turn - 1]?.token ?? first;
  };
  const call = async <T>(asked: ServiceCall): Promise<T> => (await insist(root, asked, next)) as T;
  return {
    call,
    async stream(path, signal) {
      const response = await fetch(`${root}/api/v1${path}`, { headers: { authorization: first }, signal });
      if (!response.ok || response.body === null) throw (await failureOf({ path }, response)).error;
      return response.body;
    },
    async widen(tokens) {
      const body = { description: 'fleetward-simulator', expires: Math.floor(Date.now() / 1000) + 86_400 };
      while (extra.length + 1 < tokens) {
        const path = '/auth/token/authorization';
        const made = await insist(root, { method: 'POST', path, body }, () => first);
        extra.push(made as { token: string; tokenID: string });
      }
    },
    async close() {
      for (const { tokenID } of extra.splice(0)) {
        const path = '/auth/revoketoken/authorization';
        await insist(root, { method: 'POST', path, body: { tokenID }, patienceMs: 5000 }, () => first).catch(
          () => undefined,
        );
      }
    },
  };
}
