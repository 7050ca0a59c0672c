// Statements on push registrations: the browsers and apps of a user. Every statement on behalf of a user takes the user id, so
// registrations of other users are out of reach.

import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { DeliveryFault } from '../../core/notifications/delivery-fault.ts';
import { numberOf, textOf } from '../base/row.ts';

/** Registrations of one user; the oldest give way. */
export const registrationsMost = 20;

export interface PushOwner {
  readonly accountID: string;
  readonly userID: string;
}

/** A session of the owner; see `schema/notifications.ts`. */
interface PushSession {
  readonly tokenHash: string;
  readonly nowS: number;
}

export interface PushKey extends PushOwner {
  readonly pushID: string;
}

/** A Web Push subscription as a browser gives it (Push API). */
export interface Subscription {
  readonly endpoint: string;
  /** Base64url of 65 and of 16 bytes. */
  readonly p256dh: string;
  readonly auth: string;
}

export interface RegistrationRow {
  readonly pushID: string;
  readonly endpoint: string;
  readonly isRegistered: boolean;
  readonly sessionHash: string;
  readonly createdS: number;
}

const toRegistration = (row: Row): RegistrationRow => ({
  pushID: textOf(row, 'push_id'),
  endpoint: textOf(row, 'endpoint'),
  isRegistered: numberOf(row, 'is_registered') === 1,
  sessionHash: textOf(row, 'session_hash'),
  createdS: numberOf(row, 'created_s'),
});

/** All registrations of a user, newest first. */
export async function listRegistrations(
  db: Database,
  { accountID, userID }: PushOwner,
): Promise<readonly RegistrationRow[]> {
  const rows = await db.read(sql`SELECT push_id, endpoint, is_registered, session_hash, created_s
    FROM push_registrations WHERE account_id = ${accountID} AND user_id = ${userID} ORDER BY registration_no DESC`);
  return rows.map(toRegistration);
}

/** A user's registration of that id, or null. */
export async function findRegistration(db: Database, key: PushKey): Promise<RegistrationRow | null> {
  const [row] =
    await db.read(sql`SELECT push_id, endpoint, is_registered, session_hash, created_s FROM push_registrations
    WHERE account_id = ${key.accountID} AND user_id = ${key.userID} AND push_id = ${key.pushID}`);
  return row === undefined ? null : toRegistration(row);
}

/** A user's registration of that endpoint, or null. */
export async function findByEndpoint(
  db: Database,
  owner: PushOwner,
  endpoint: string,
): Promise<RegistrationRow | null> {
  const [row] =
    await db.read(sql`SELECT push_id, endpoint, is_registered, session_hash, created_s FROM push_registrations
    WHERE endpoint = ${endpoint} AND account_id = ${owner.accountID} AND user_id = ${owner.userID}`);
  return row === undefined ? null : toRegistration(row);
}

/** Removes what is beyond the newest registrations of the user. */
function trim({ accountID, userID }: PushOwner): Statement {
  return sql`DELETE FROM push_registrations WHERE registration_no IN (
    SELECT registration_no FROM push_registrations WHERE account_id = ${accountID} AND user_id = ${userID}
    ORDER BY registration_no DESC LIMIT 1000 OFFSET ${registrationsMost})`;
}

/**
 * Keeps a subscription under its id. The same endpoint with the same secret is the same browser: within the account it then
 * belongs to the user who is logged in now.
 */
export function putSubscription(
  key: PushKey,
  subscription: Subscription,
  { tokenHash, nowS }: PushSession,
): readonly Statement[] {
  const { accountID, userID, pushID } = key;
  const { endpoint, p256dh, auth } = subscription;
  return [
    sql`DELETE FROM push_registrations WHERE endpoint = ${endpoint}
      AND account_id = ${accountID} AND user_id <> ${userID} AND auth = ${auth} AND p256dh = ${p256dh}`,
    sql`INSERT INTO push_registrations (account_id, user_id, push_id, endpoint, p256dh, auth, is_registered, session_hash,
        created_s)
      VALUES (${accountID}, ${userID}, ${pushID}, ${endpoint}, ${p256dh}, ${auth}, 0, ${tokenHash}, ${nowS})
      ON CONFLICT (account_id, user_id, push_id) DO UPDATE SET endpoint = excluded.endpoint,
        p256dh = excluded.p256dh, auth = excluded.auth, session_hash = excluded.session_hash`,
    trim(key),
  ];
}

/** Switches a registration on; an id that is not known is kept as an opaque token. */
export function register(
  { accountID, userID, pushID }: PushKey,
  { tokenHash, nowS }: PushSession,
): readonly Statement[] {
  return [
    sql`INSERT INTO push_registrations (account_id, user_id, push_id, is_registered, session_hash, created_s)
      VALUES (${accountID}, ${userID}, ${pushID}, 1, ${tokenHash}, ${nowS})
      ON CONFLICT (account_id, user_id, push_id) DO UPDATE SET is_registered = 1, session_hash = excluded.session_hash`,
    trim({ accountID, userID }),
  ];
}

/** Removes a user's registration; changes 0 rows when there is none. */
export function unregister({ accountID, userID, pushID }: PushKey): Statement {
  return sql`DELETE FROM push_registrations
    WHERE account_id = ${accountID} AND user_id = ${userID} AND push_id = ${pushID}`;
}

/** Condition that the user has a registration of that id which is switched on. */
export function isRegistered({ accountID, userID, pushID }: PushKey): Statement {
  return sql`EXISTS (SELECT 1 FROM push_registrations WHERE account_id = ${accountID}
    AND user_id = ${userID} AND push_id = ${pushID} AND is_registered = 1)`;
}

/** Removes a registration that its push service has ended, and drops its waiting deliveries. */
export function removeRegistration(registrationNo: number, nowMs: number): readonly Statement[] {
  return [
    sql`DELETE FROM push_registrations WHERE registration_no = ${registrationNo}`,
    sql`UPDATE deliveries SET state = 'dead', ended_ms = ${nowMs}, fault = ${'push_ended' satisfies DeliveryFault}
      WHERE lane = ${`push:${registrationNo}`} AND state = 'pending'`,
  ];
}
