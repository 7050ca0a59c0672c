// The session of this tab. The token lives in the tab's session storage and travels in the header `authorization` only: no cookie, so
// no other site can use it, and no other host can read it. Tabs of one browser pass it on to each other while they are open, in memory:
// it is in no storage that outlives them.

import { skewOf } from '../state/age.ts';
import { createValue } from '../state/value.ts';

export interface Session {
  readonly token: string;
  readonly accountID: string;
  readonly userID: string;
  /** Page of the login provider that ends the session there; '' without one. */
  readonly logoutURL: string;
}

/** Why there is no session: never begun, ended by the user, or no longer valid at the service. */
type Absence = 'none' | 'left' | 'ended';

const key = 'fleetward.session';

function stored(): Session | null {
  try {
    const value = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Session> | null;
    const { token, accountID, userID, logoutURL = '' } = value ?? {};
    if (typeof token !== 'string' || typeof accountID !== 'string' || typeof userID !== 'string') return null;
    return { token, accountID, userID, logoutURL };
  } catch {
    return null;
  }
}

export const session = createValue<Session | null>(stored());
export const absence = createValue<Absence>('none');

/** Account of a practice fleet, which each answer of its service names and no other service's does; null: there is none. */
export const practiceAccount = createValue<string | null>(null);

/** The session is one of the practice fleet of a demonstration. */
export function isPractice(): boolean {
  const account = practiceAccount.get();
  return account !== null && session.get()?.accountID === account;
}

/** The service no longer knows the session, and its screen waits for the login of the same user. */
export const isEnded = createValue(false);

/** An ended session closed the question about a restrictive order, whose facts would be old. */
export const hasClosedOrder = createValue(false);

/** Null without a session, and while it waits for the login. */
export const sessionToken = (): string | null => (isEnded.get() ? null : (session.get()?.token ?? null));

const isSameUser = (one: Session | null, other: Session | null): boolean =>
  one?.accountID === other?.accountID && one?.userID === other?.userID;

/** Calls the listener when the session of another user begins, or none is left; a new session of the same user is no change. */
export function onUserChange(listener: () => void): void {
  let before = session.get();
  session.subscribe(() => {
    const present = session.get();
    const isChange = !isSameUser(before, present);
    before = present;
    if (isChange) listener();
  });
}

/** Waits while the session has ended. @param signal gives up waiting. */
export function whenSessionBack(signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (!isEnded.get() || signal?.aborted === true) return done();
    const finish = (): void => {
      unsubscribe();
      signal?.removeEventListener('abort', finish);
      done();
    };
    const unsubscribe = isEnded.subscribe(finish);
    signal?.addEventListener('abort', finish);
  });
}

/** Ids of the last sign-in on this computer; '' before the first. */
export interface LastUser {
  readonly accountID: string;
  readonly userID: string;
}

const lastKey = 'fleetward.last-user';

export function lastUser(): LastUser {
  const [accountID = '', userID = ''] = (localStorage.getItem(lastKey) ?? '').split('/');
  return { accountID, userID };
}

function keep(begun: Session): void {
  sessionStorage.setItem(key, JSON.stringify(begun));
  localStorage.setItem(lastKey, `${begun.accountID}/${begun.userID}`);
  session.set(begun);
  hasClosedOrder.set(false);
  isEnded.set(false);
}

type TabMessage =
  | { readonly kind: 'ask' }
  /** `begun`: just now; `held`: the answer to `ask`. */
  | { readonly kind: 'begun' | 'held'; readonly session: Session }
  | { readonly kind: 'left'; readonly token: string };

let tabs: BroadcastChannel | null = null;
const send = (message: TabMessage): void => tabs?.postMessage(message);
/** This tab takes the session of another one. */
let takesSession = false;
/** It asks for one: the address brought no login of its own. */
let asks = false;
/** The token whose session ended here: another tab may not know that yet. */
let endedToken = '';
/** Another tab of this browser answers within this time, ms. */
const answerMs = 150;

function receive(message: TabMessage): void {
  const own = stored();
  if (message.kind === 'ask') {
    if (own !== null) send({ kind: 'held', session: own });
  } else if (message.kind === 'left') {
    if ((own ?? session.get())?.token === message.token) forget('left');
  } else if (own !== null || message.session.token === endedToken) {
    return;
  } else if (isEnded.get()) {
    if (isSameUser(session.get(), message.session)) keep(message.session);
  } else if (takesSession) {
    // After a sign-out the session of another user in another tab is not taken: only one that begins now.
    if (message.kind === 'begun' || absence.get() !== 'left') keep(message.session);
  }
}

/** From now on this tab answers others. @param mayTake it begins with the session of another tab, if there is one. */
export async function joinTabs(mayTake: boolean): Promise<void> {
  tabs = new BroadcastChannel('fleetward.session');
  tabs.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => receive(data));
  asks = mayTake;
  if (!mayTake || session.get() !== null) return;
  const leave = takeSession();
  await new Promise<void>((done) => {
    setTimeout(done, answerMs);
    const unsubscribe = session.subscribe(() => {
      unsubscribe();
      done();
    });
  });
  leave();
}

/** While no session is here, that of another tab is taken as soon as it begins. @returns ends that. */
export function takeSession(): () => void {
  takesSession = true;
  if (asks) send({ kind: 'ask' });
  return () => {
    takesSession = false;
  };
}

export function beginSession(begun: Session): void {
  keep(begun);
  send({ kind: 'begun', session: begun });
}

function forget(why: Exclude<Absence, 'none'>): void {
  // A page may follow the fleet with another token than that of this tab.
  if (stored()?.token === session.get()?.token) sessionStorage.removeItem(key);
  endedToken = session.get()?.token ?? '';
  absence.set(why);
  session.set(null);
  hasClosedOrder.set(false);
  isEnded.set(false);
}

/** Ends the session by the user's wish, in all tabs. */
export function endSession(): void {
  const token = stored()?.token;
  if (token !== undefined) send({ kind: 'left', token });
  forget('left');
}

/** A screen that can ask for the login stands. */
let holdsScreen = false;

/** From now on a session that ends leaves its screen as it is. @returns ends that. */
export function holdScreen(): () => void {
  holdsScreen = true;
  return () => {
    holdsScreen = false;
  };
}

/** The service refused a token. @param token of the request: a late answer to an older one ends no session. */
export function handleRefusal(token: string | null): void {
  if (token === null || sessionToken() !== token) return;
  if (!holdsScreen) return forget('ended');
  if (stored()?.token === token) sessionStorage.removeItem(key);
  endedToken = token;
  absence.set('ended');
  isEnded.set(true);
  // Another tab may have begun the next session of this user.
  send({ kind: 'ask' });
}

/** Gives up the screen of an ended session and all that was typed on it. */
export function leaveEnded(): void {
  if (isEnded.get()) forget('ended');
}

/** The clocks are compared to the second, s. */
const clockFaultS = 2;

/**
 * Clock of the service minus clock of this computer, s: alarms, records and orders are dated by the service, and televisions
 * are set wrong often.
 */
export const skewS = createValue(0);

/** Now by the clock of the service, epoch seconds. */
export const serviceNowS = (): number => Math.floor(Date.now() / 1000) + skewS.get();

/** @param date header of an answer that has just come. */
export function compareClocks(date: string | null): void {
  const found = skewOf(date, Date.now());
  if (date === null || Math.abs(found - skewS.get()) <= clockFaultS) return;
  skewS.set(Math.abs(found) <= clockFaultS ? 0 : found);
}
