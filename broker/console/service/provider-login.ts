// The login at a provider: begins it and remembers its secret in this tab, which alone can then finish it.
import { call } from './call.ts';

interface Begun {
  readonly loginSecret: string;
  /** Page of the console to go to afterwards. */
  readonly next: string | undefined;
}

const key = 'fleetward.provider-login';

/** Only web pages: an address of another kind would run as a script. @throws Error */
function pageOf(text: string): string {
  const url = new URL(text);
  if (url.protocol === 'https:' || url.protocol === 'http:') return url.href;
  throw new Error(`The login provider names ${url.protocol} for its page, which is no web page`);
}

/** Sends the browser to the provider; the page ends. @throws ServiceError */
export async function goToProvider(next: string | undefined): Promise<void> {
  const { authorizationURL, loginSecret } = await call('beginProviderLogin', {});
  const page = pageOf(authorizationURL);
  sessionStorage.setItem(key, JSON.stringify({ loginSecret, next }));
  location.assign(page);
}

/** The login that this tab began; null without one. It is forgotten: each is finished once. */
export function takeBegun(): Begun | null {
  try {
    const value = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Begun> | null;
    sessionStorage.removeItem(key);
    const { loginSecret, next } = value ?? {};
    return typeof loginSecret === 'string'
      ? { loginSecret, next: typeof next === 'string' ? next : undefined }
      : null;
  } catch {
    return null;
  }
}

/** Ends the session at the provider, where it names a page for that; the page here ends then. */
export function leaveProvider(logoutURL: string): void {
  if (logoutURL !== '') location.assign(pageOf(logoutURL));
}
