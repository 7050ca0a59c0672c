// What the address brings when the page is opened: a login code behind `#`, which no server and no log sees, or what the login provider
// sent the browser back with. Both work once. They are taken out of the address and of the history before anything is shown.
import { takeBegun } from './provider-login.ts';

interface ProviderReturn {
  readonly kind: 'provider';
  /** Null: no login was begun in this tab. */
  readonly loginSecret: string | null;
  readonly state: string;
  /** '' when the provider sent an error instead. */
  readonly code: string;
  readonly iss: string | null;
}

interface LoginCode {
  readonly kind: 'code';
  readonly code: string;
}

export type Arrival = ProviderReturn | LoginCode;

const home = '/console/';
const login = '/console/login';

function takeCode(): LoginCode | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code === null || location.pathname !== login) return null;
  history.replaceState(history.state, '', location.pathname + location.search);
  return { kind: 'code', code };
}

function takeReturn(): ProviderReturn | null {
  const given = new URLSearchParams(location.search);
  const [state, code] = [given.get('state'), given.get('code')];
  const isReturn = state !== null && (code !== null || given.has('error'));
  if (!isReturn || (location.pathname !== home && location.pathname !== login)) return null;
  const begun = takeBegun();
  const search = begun?.next === undefined ? '' : `?${new URLSearchParams({ next: begun.next }).toString()}`;
  history.replaceState(null, '', login + search);
  return {
    kind: 'provider',
    loginSecret: begun?.loginSecret ?? null,
    state,
    code: code ?? '',
    iss: given.get('iss'),
  };
}

/** Takes it; null when there is nothing, and from the second call on. */
export const takeArrival = (): Arrival | null => takeReturn() ?? takeCode();

/**
 * What the address brought when the page was opened, until it was used: each works once. With a session in this tab it is not used, so
 * that the link of another person replaces none; it is once the service no longer knows that session.
 */
let first: Arrival | null = null;

/** Takes it out of the address, once the page is opened. */
export function takeFirst(): void {
  first = takeArrival();
}

/** Something waits to be used. */
export const hasFirst = (): boolean => first !== null;

export function firstArrival(): Arrival | null {
  const entry = first;
  first = null;
  return entry;
}
