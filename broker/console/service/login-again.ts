// Users of the login provider have no password here: they log in there once more, and the secret of that login stands in place of the
// password of one request. The tab keeps the secret while the browser is at the provider, as it keeps the token.
import { createValue } from '../state/value.ts';
import { call } from './call.ts';

const key = 'fleetward.login-again';

interface Begun {
  readonly loginSecret: string;
  /** As the provider will send it back. */
  readonly state: string;
  /** Path of this console to come back to. */
  readonly next: string;
}

export interface Proof {
  readonly secret: string;
  /** Epoch seconds. */
  readonly expires: number;
}

/** The proof of the newest login; used up by one request. */
export const loginProof = createValue<Proof | null>(null);

function begun(): Begun | null {
  try {
    const { loginSecret, state, next } = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Begun>;
    if (typeof loginSecret !== 'string' || typeof state !== 'string' || typeof next !== 'string') return null;
    return { loginSecret, state, next };
  } catch {
    return null;
  }
}

/** Sends the browser to the login provider. @param next path of this console to come back to. @throws ServiceError. */
export async function beginLoginAgain(next: string): Promise<void> {
  const { authorizationURL, loginSecret } = await call('beginLoginAgain', {});
  const url = new URL(authorizationURL);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error(`Not a web address: ${url.protocol}`);
  const state = url.searchParams.get('state') ?? '';
  sessionStorage.setItem(key, JSON.stringify({ loginSecret, state, next } satisfies Begun));
  location.assign(url);
}

/** What the provider sent back, until it is used; it stands in no address after that. */
let answer: URLSearchParams | null = null;

/** Keeps what the provider sent back from a login that this tab began within its session. @returns false: it is of no such login. */
export function takeLoginAgain(query: URLSearchParams): boolean {
  const login = begun();
  if (login === null || login.state === '' || query.get('state') !== login.state) return false;
  answer = query;
  return true;
}

/** Proves the login at the service. @returns the path to go on at. @throws ServiceError; Error when there is nothing to finish. */
export async function finishLoginAgain(): Promise<string> {
  const login = begun();
  const query = answer;
  answer = null;
  sessionStorage.removeItem(key);
  if (login === null || query === null) throw new Error('No login was begun in this tab');
  const [code, iss] = [query.get('code') ?? '', query.get('iss')];
  const { loginSecret, state, next } = login;
  const { expires } = await call('finishLoginAgain', {
    body: { loginSecret, state, code, ...(iss === null ? {} : { iss }) },
  });
  loginProof.set({ secret: loginSecret, expires });
  return next;
}
