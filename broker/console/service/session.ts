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

export const sessionToken = (): string | null => session.get()?.token ?? null;

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
    if (own?.token === message.token) forget('left');
  } else if (takesSession && own === null && message.session.token !== endedToken) {
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
}

export function endSession(why: Exclude<Absence, 'none'>): void {
  // What was asked before a sign-out is refused after it.
  if (why === 'ended' && session.get() === null) return;
  const token = stored()?.token;
  if (why === 'left' && token !== undefined) send({ kind: 'left', token });
  forget(why);
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
