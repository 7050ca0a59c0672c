// The access of a wallboard: an API token that may read and nothing else, kept in this browser. What fails is tried again for ever.
import { call, ServiceError } from '../../service/call.ts';
import { session } from '../../service/session.ts';
import { createValue } from '../../state/value.ts';
import { type BoardToken, parseBoardToken, refusalOf } from '../../state/wallboard/board-view.ts';

export type Access =
  /** No token was set up in this browser. */
  | { readonly kind: 'none' }
  /** The service has not answered yet. */
  | { readonly kind: 'asking'; readonly sinceMs: number }
  /** @param expiresS of the token, epoch seconds. */
  | { readonly kind: 'given'; readonly expiresS: number }
  /** The service took the token before, or it was kept, and does not take it now. */
  | { readonly kind: 'ended'; readonly sinceMs: number };

export type TokenFault = 'shape' | 'login' | 'scopes' | 'unknown' | 'unreachable';

const key = 'fleetward.wallboard';
/** Until the token is looked at again: while all is well, without an answer, after a refusal. */
const againMs = { given: 600_000, asking: 5000, ended: 60_000 } as const;

export const access = createValue<Access>({ kind: 'none' });

let present: BoardToken | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

function askLater(ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void look(), ms);
}

/** What began earlier goes on: it keeps its time. */
function set(kind: 'asking' | 'ended'): void {
  if (access.get().kind !== kind) access.set({ kind, sinceMs: Date.now() });
  askLater(againMs[kind]);
}

function give({ token }: BoardToken, expiresS: number): void {
  localStorage.setItem(key, token);
  access.set({ kind: 'given', expiresS });
  askLater(againMs.given);
}

/** Asks the service what a token may do. @returns its end in epoch seconds, or what is wrong with it. */
async function ask({ token, accountID, userID }: BoardToken): Promise<number | TokenFault> {
  // In memory only: the session of the console in this tab stays as it is.
  if (session.get()?.token !== token) session.set({ token, accountID, userID, logoutURL: '' });
  try {
    const { tokens } = await call('getTokens', {});
    const own = tokens.find(({ isCurrent }) => isCurrent);
    return refusalOf(own) ?? own?.expires ?? 'unknown';
  } catch (thrown) {
    const isRefused = thrown instanceof ServiceError && (thrown.status === 401 || thrown.status === 422);
    return isRefused ? 'unknown' : 'unreachable';
  }
}

async function look(): Promise<void> {
  const looked = present;
  if (looked === null) return;
  const found = await ask(looked);
  if (looked !== present) return;
  if (typeof found === 'number') return give(looked, found);
  if (found !== 'unreachable') {
    session.set(null);
    return set('ended');
  }
  // What is shown stays, with its age: the stream says what it is worth.
  if (access.get().kind === 'given') askLater(againMs.asking);
  else set('asking');
}

/** Takes another token, once the service has said that it may read and nothing else. @returns what is wrong; null: nothing. */
export async function takeToken(text: string): Promise<TokenFault | null> {
  const offered = parseBoardToken(text);
  if (offered === null) return 'shape';
  clearTimeout(timer);
  const before = present;
  present = null;
  const found = await ask(offered);
  present = typeof found === 'number' ? offered : before;
  if (typeof found === 'number') {
    give(offered, found);
    return null;
  }
  session.set(null);
  void look();
  return found;
}

/** This browser has no access from now on. */
export function removeToken(): void {
  clearTimeout(timer);
  present = null;
  localStorage.removeItem(key);
  session.set(null);
  access.set({ kind: 'none' });
}

/** Begins with the token of the address, which is taken out of it at once, or with the one that was kept. */
export function beginAccess(): void {
  // The session of a person in this tab is none of a wallboard.
  session.set(null);
  present = parseBoardToken(location.hash) ?? parseBoardToken(localStorage.getItem(key) ?? '');
  if (location.hash !== '') history.replaceState(null, '', location.pathname);
  session.subscribe(() => {
    // The stream or a reading was refused.
    if (session.get() === null && access.get().kind === 'given') set('ended');
  });
  if (present === null) return;
  set('asking');
  void look();
}
