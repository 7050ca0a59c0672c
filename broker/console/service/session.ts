// The session of this tab. The token lives in the tab's session storage and travels in the header `authorization` only: no cookie, so
// no other site can use it, and no other host can read it.

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

export function beginSession(begun: Session): void {
  sessionStorage.setItem(key, JSON.stringify(begun));
  session.set(begun);
}

export function endSession(why: Exclude<Absence, 'none'>): void {
  // A page may follow the fleet with another token than that of this tab.
  if (stored()?.token === session.get()?.token) sessionStorage.removeItem(key);
  absence.set(why);
  session.set(null);
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
