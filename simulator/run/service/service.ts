// The client of the broker's HTTP service: logs in as any user does, and retries for a bounded time while the service is throttling or
// not available. Secrets and tokens are never written anywhere.
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, type ErrorCode, isErrorCode, messageOf } from '../../../src/core/errors.ts';
import { createHttp, type Http, type HttpAnswer } from './http.ts';

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
  /** In place of the token of the login; null: none. */
  readonly token?: string | null;
  /** The answer is not JSON: it is given as it is. */
  readonly isText?: boolean;
  /** A body that is not JSON. */
  readonly text?: { readonly mediaType: string; readonly content: string };
  /** Time of retries while the service is throttling or unavailable, ms; default 60 s, 0: never. */
  readonly retryForMs?: number;
  /** Time of retries without a listener, ms; default as above. */
  readonly absentForMs?: number;
  /** Time limit of an answer, ms; default two minutes. */
  readonly answerMs?: number;
}

export interface Service {
  /** The JSON of the answer. @throws AppError with the error of the service; `unavailable` when the retries ended. */
  call<T>(call: ServiceCall): Promise<T>;
  /** An open answer, to be read as it arrives. @throws AppError. */
  stream(
    path: string,
    options: { readonly signal: AbortSignal; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<AsyncIterable<Uint8Array>>;
  /** A whole answer that is not JSON. @throws AppError as `call` does. */
  text(path: string): Promise<string>;
  /** Creates further tokens, each with a rate limit of its own. They are revoked by `close`. */
  addTokens(tokens: number): Promise<void>;
  close(): Promise<void>;
}

const defaultRetryForMs = 60_000;
const answerMs = 120_000;
/** A login is the first call: nothing there, or something else, is reported soon. */
const loginLimits = { retryForMs: 20_000, absentForMs: 5000, answerMs: 10_000 } as const;
const waitMostMs = 5000;

/** Throttled, starting, or not available for a moment. */
const isRetryable = (status: number): boolean => status === 503 || status === 502 || status === 504;

interface Failure {
  readonly error: AppError;
  /** Null: a retry makes no sense. */
  readonly waitMs: number | null;
  /** There was no answer at all. */
  readonly isAbsent?: true;
}

function hintOf(status: number, base: string): string {
  if (status === 401)
    return 'Are --account, --user and --password-file those of an administrator of this account?';
  return `Is ${base} the HTTP service of a Fleetward broker?`;
}

/** Of an answer that names no error of ours. */
const codeOf = (status: number): ErrorCode =>
  status === 401 ? 'login_failed' : status === 403 ? 'forbidden' : 'invalid_content';

async function failureOf(call: ServiceCall, answer: HttpAnswer, base: string): Promise<Failure> {
  const text = await answer.text().catch(() => '');
  let detail = text.slice(0, 300);
  let own: ErrorCode | null = null;
  let isOurs = false;
  try {
    const { error } = JSON.parse(text) as {
      error?: { code?: string; detail?: string; hint?: string | null };
    };
    isOurs = typeof error?.detail === 'string';
    if (isOurs && isErrorCode(error?.code)) own = error.code;
    detail = [error?.detail, error?.hint].filter((part) => typeof part === 'string').join(' ');
  } catch {
    // Not an error of the service: the text is shown as it is.
  }
  const { status } = answer;
  // One that can be tried again stays that, whatever the service calls it.
  const code = isRetryable(status) ? 'unavailable' : (own ?? codeOf(status));
  const hint = isOurs && status !== 401 ? {} : { hint: hintOf(status, base) };
  const error = new AppError(code, `${call.method ?? 'GET'} ${call.path}: ${status} ${detail}`, hint);
  const afterS = Number(answer.header('retry-after') ?? 1);
  const waitMs = Math.min(waitMostMs, (Number.isFinite(afterS) ? Math.max(0.1, afterS) : 1) * 1000);
  return { error, waitMs: isRetryable(status) ? waitMs : null };
}

interface Endpoint {
  readonly http: Http;
  /** Without a slash at its end. */
  readonly base: string;
}

async function attempt(
  { http, base }: Endpoint,
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
  const mostMs = call.answerMs ?? answerMs;
  const init = { method, headers, signal: AbortSignal.timeout(mostMs) };
  try {
    const answer = await http.request(
      `${base}/api/v1${path}`,
      payload === undefined ? init : { ...init, payload },
    );
    if (answer.status >= 300) return await failureOf(call, answer, base);
    const said = await answer.text();
    return { answer: call.isText === true ? said : parseAnswer(said, base) };
  } catch (thrown) {
    if (thrown instanceof AppError) return { error: thrown, waitMs: null };
    const isTls = /certificate|self.signed|SSL|TLS|EPROTO|wrong version/i.test(messageOf(thrown));
    const hint = isTls
      ? 'Is --ca the authority of its certificate, and is it https:// or http://?'
      : `Is there a Fleetward broker at ${base}?`;
    const why = init.signal.aborted ? `no answer within ${mostMs / 1000} s` : messageOf(thrown);
    const error = new AppError('unavailable', `${method} ${path}: ${why}`, { hint });
    return { error, waitMs: isTls ? null : 500, isAbsent: true };
  }
}

function parseAnswer(text: string, base: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError(
      'usage',
      `${base} answers, but not as a Fleetward broker: ${text.slice(0, 60).trim()}`,
      {
        hint: 'Give --target the address of its HTTP service, such as http://127.0.0.1:8080.',
      },
    );
  }
}

async function callWithRetries(
  endpoint: Endpoint,
  call: ServiceCall,
  token: () => string | null,
): Promise<unknown> {
  const { retryForMs = defaultRetryForMs, absentForMs = retryForMs } = call;
  const beganMs = Date.now();
  for (;;) {
    const outcome = await attempt(endpoint, call, token());
    if ('answer' in outcome) return outcome.answer;
    const forMs = outcome.isAbsent === true ? absentForMs : retryForMs;
    if (outcome.waitMs === null || Date.now() + outcome.waitMs > beganMs + forMs) throw outcome.error;
    await sleep(outcome.waitMs);
  }
}

/** The token of a call: its own, or one of the login. */
const tokenOf = ({ token }: ServiceCall, next: () => string): (() => string | null) =>
  token === undefined ? next : () => token;

async function logIn(place: Endpoint, login: Login): Promise<string> {
  const call = { method: 'POST', path: '/auth/login', body: login, ...loginLimits } as const;
  const { token } = (await callWithRetries(place, call, () => null)) as { token?: unknown };
  if (typeof token === 'string') return token;
  throw new AppError('usage', `${place.base} answers, but gives no token: it is not a Fleetward broker`);
}

/** Logs in. @param base such as `http://127.0.0.1:8080`. @throws AppError. */
export async function openService(base: string, login: Login, ca: string | null = null): Promise<Service> {
  const http = createHttp(ca);
  const root: Endpoint = { http, base: base.replace(/\/+$/, '') };
  const first = await logIn(root, login);
  const extra: { token: string; tokenID: string }[] = [];
  let turn = 0;
  /** A token with few requests a second of its own: they take turns. */
  const next = (): string => {
    turn = (turn + 1) % (extra.length + 1);
    return extra[turn - 1]?.token ?? first;
  };
  const call = async <T>(asked: ServiceCall): Promise<T> =>
    (await callWithRetries(root, asked, tokenOf(asked, next))) as T;
  return {
    call,
    text: async (path) => (await callWithRetries(root, { path, isText: true }, next)) as string,
    async stream(path, { signal, headers = {} }) {
      const request = { method: 'GET', headers: { authorization: first, ...headers }, signal };
      const answer = await http.request(`${root.base}/api/v1${path}`, request);
      if (answer.status >= 300) throw (await failureOf({ path }, answer, root.base)).error;
      return answer.body;
    },
    async addTokens(tokens) {
      const body = {
        description: 'fleetward-simulator',
        expires: Math.floor(Date.now() / 1000) + 86_400,
        // They do the work of the login: devices and their secrets, commands, approvals.
        scopes: ['read', 'write', 'command', 'admin'],
      };
      while (extra.length + 1 < tokens) {
        const path = '/auth/token/authorization';
        const made = await callWithRetries(root, { method: 'POST', path, body }, () => first);
        extra.push(made as { token: string; tokenID: string });
      }
    },
    async close() {
      for (const { tokenID } of extra.splice(0)) {
        const path = '/auth/revoketoken/authorization';
        await callWithRetries(
          root,
          { method: 'POST', path, body: { tokenID }, retryForMs: 5000 },
          () => first,
        ).catch(() => undefined);
      }
      http.close();
    },
  };
}
