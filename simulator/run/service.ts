// The HTTP service as the simulator uses it: logs in like anybody, asks again when it is told to wait or the service is away for
// a while, and never longer than it was given. Secrets and tokens are never written anywhere.
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, messageOf } from '../../src/core/errors.ts';
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

/** What to do about it, where that can be said. */
function hintOf(status: number, base: string): string {
  if (status === 401)
    return 'Are --account, --user and --password-file those of an administrator of this account?';
  return `Is ${base} the HTTP service of a Fleetward broker?`;
}

async function failureOf(call: ServiceCall, answer: HttpAnswer, base: string): Promise<Failure> {
  const text = await answer.text().catch(() => '');
  let words = text.slice(0, 300);
  let isOurs = false;
  try {
    const { error } = JSON.parse(text) as { error?: { detail?: string; hint?: string | null } };
    isOurs = typeof error?.detail === 'string';
    words = [error?.detail, error?.hint].filter((part) => typeof part === 'string').join(' ');
  } catch {
    // Not ours: the text as it came has to do.
  }
  const { status } = answer;
  const code = isPassing(status) ? 'unavailable' : status === 401 ? 'login_failed' : 'invalid_content';
  const hint = isOurs && status !== 401 ? {} : { hint: hintOf(status, base) };
  const error = new AppError(code, `${call.method ?? 'GET'} ${call.path}: ${status} ${words}`, hint);
  const afterS = Number(answer.header('retry-after') ?? 1);
  const waitMs = Math.min(waitMostMs, (Number.isFinite(afterS) ? Math.max(0.1, afterS) : 1) * 1000);
  return { error, waitMs: isPassing(status) ? waitMs : null };
}

interface Place {
  readonly http: Http;
  /** Without a slash at its end. */
  readonly base: string;
}

async function attempt(
  { http, base }: Place,
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
    const answer = await http.ask(
      `${base}/api/v1${path}`,
      payload === undefined ? init : { ...init, payload },
    );
    if (answer.status >= 300) return await failureOf(call, answer, base);
    return { answer: parseAnswer(await answer.text(), base) };
  } catch (thrown) {
    if (thrown instanceof AppError) return { error: thrown, waitMs: null };
    const isTls = /certificate|self.signed|SSL|TLS|EPROTO|wrong version/i.test(messageOf(thrown));
    const hint = isTls
      ? 'Is --ca the authority of its certificate, and is it https:// or http://?'
      : `Is there a Fleetward broker at ${base}?`;
    const error = new AppError('unavailable', `${method} ${path}: ${messageOf(thrown)}`, { hint });
    return { error, waitMs: isTls ? null : 500 };
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

async function insist(place: Place, call: ServiceCall, token: () => string | null): Promise<unknown> {
  const untilMs = Date.now() + (call.patienceMs ?? standardPatienceMs);
  for (;;) {
    const outcome = await attempt(place, call, token());
    if ('answer' in outcome) return outcome.answer;
    if (outcome.waitMs === null || Date.now() + outcome.waitMs > untilMs) throw outcome.error;
    await sleep(outcome.waitMs);
  }
}

async function logIn(place: Place, login: Login): Promise<string> {
  const call = { method: 'POST', path: '/auth/login', body: login, patienceMs: 20_000 } as const;
  const { token } = (await insist(place, call, () => null)) as { token?: unknown };
  if (typeof token === 'string') return token;
  throw new AppError('usage', `${place.base} answers, but gives no token: it is no Fleetward broker`);
}

/** Logs in. @param base such as `http://127.0.0.1:8080`. @throws AppError. */
export async function openService(base: string, login: Login, ca: string | null = null): Promise<Service> {
  const http = createHttp(ca);
  const root: Place = { http, base: base.replace(/\/+$/, '') };
  const first = await logIn(root, login);
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
      const request = { method: 'GET', headers: { authorization: first }, signal };
      const answer = await http.ask(`${root.base}/api/v1${path}`, request);
      if (answer.status >= 300) throw (await failureOf({ path }, answer, root.base)).error;
      return answer.body;
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
      http.close();
    },
  };
}
