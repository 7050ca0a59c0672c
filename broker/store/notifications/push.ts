// Statements on push registrations: the browsers and apps of a user. Every statement on behalf of a user takes the user id, so
// registrations of other users are out of reach.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { DeliveryFault } from '../../core/notifications/delivery-fault.ts';
import type { UserKey } from '../accounts/accounts.ts';
import { flagOf, numberOf, textOf } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';

/** Registrations of one user; the oldest give way. */
export const registrationsMost = 20;

/** A session of the owner; see `schema/notifications.ts`. */
interface PushSession {
  readonly tokenHash: string;
  readonly nowS: number;
}

export interface PushKey extends UserKey {
  readonly pushID: string;
}

/** A Web Push subscription as a browser gives it (Push API). */
export interface Subscription {
  readonly endpoint: string;
  /** Base64url of 65 and of 16 bytes. */
  readonly p256dh: string;
  readonly auth: string;
}

const registrations = shape({
  pushID: textOf,
  endpoint: textOf,
  isRegistered: flagOf,
  sessionHash: textOf,
  createdS: numberOf,
});
export type RegistrationRow = Infer<typeof registrations>;

const selectOwn = ({ accountID, userID }: UserKey): Statement =>
  sql`SELECT push_id, endpoint, is_registered, session_hash, created_s FROM push_registrations
    WHERE account_id = ${accountID} AND user_id = ${userID}`;

/** All registrations of a user, newest first. */
export const listRegistrations = (db: Database, owner: UserKey): Promise<readonly RegistrationRow[]> =>
  registrations.all(db)(sql`${selectOwn(owner)} ORDER BY registration_no DESC`);

/** A user's registration of that id, or null. */
export const findRegistration = (db: Database, key: PushKey): Promise<RegistrationRow | null> =>
  registrations.first(db)(sql`${selectOwn(key)} AND push_id = ${key.pushID}`);

/** A user's registration of that endpoint, or null. */
export const findByEndpoint = (
  db: Database,
  owner: UserKey,
  endpoint: string,
): Promise<RegistrationRow | null> =>
  registrations.first(db)(sql`${selectOwn(owner)} AND endpoint = ${endpoint}`);

/** Removes what is beyond the newest registrations of the user. */
function trim({ accountID, userID }: UserKey): Statement {
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
