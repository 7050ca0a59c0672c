// Passkeys of users, and ceremonies that have begun. Of a ceremony the table holds the hash of its challenge, which is used once.
import { ddl } from '../../../src/migrate.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { UserKey } from '../../store/accounts/accounts.ts';
import { findsRow } from '../../store/base/row.ts';
import { column, type Infer, table } from '../../store/base/table.ts';

/** Passkeys of one user. */
export const passkeysMost = 10;
/** Ceremonies that have begun, of all users. Of one network the limit of requests allows some 3,000. */
const ceremoniesMost = 100_000;
/** Time limit of a ceremony, in s. */
export const ceremonyS = 300;

const passkeys = table(
  'passkeys',
  {
    /** Credential id of the authenticator, base64url. */
    passkeyID: 'TEXT NOT NULL PRIMARY KEY',
    accountID: 'TEXT NOT NULL',
    userID: 'TEXT NOT NULL',
    name: 'TEXT NOT NULL',
    /** COSE key, base64url. */
    publicKey: 'TEXT NOT NULL',
    /** Signatures that the authenticator counted; 0: it counts none. */
    counter: 'BIGINT NOT NULL',
    /** 1: the authenticator keeps a copy elsewhere. */
    isBackedUp: 'INTEGER NOT NULL',
    createdS: 'BIGINT NOT NULL',
    /** Null: not used yet. */
    lastUsedS: 'BIGINT',
  },
  'FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id) ON DELETE CASCADE',
);
export type PasskeyRow = Infer<typeof passkeys>;

const ceremonies = table('passkey_ceremonies', {
  challengeHash: column('TEXT NOT NULL PRIMARY KEY', 'hidden'),
  /** Session that adds a passkey; null: a login. */
  sessionHash: column('TEXT', 'hidden'),
  expiresS: 'BIGINT NOT NULL',
});

export const passkeyTables: readonly Statement[] = [
  passkeys.create,
  ddl('CREATE INDEX passkeys_by_user ON passkeys (account_id, user_id)'),
  ceremonies.create,
  ddl('CREATE INDEX passkey_ceremonies_by_expiry ON passkey_ceremonies (expires_s)'),
];

export interface Ceremony {
  readonly challengeHash: string;
  readonly sessionHash: string | null;
  readonly nowS: number;
}

/** The second result changes 0 rows when there are `ceremoniesMost`. */
export const beginCeremony = ({ challengeHash, sessionHash, nowS }: Ceremony): readonly Statement[] => [
  sql`DELETE FROM passkey_ceremonies WHERE expires_s <= ${nowS}`,
  sql`INSERT INTO passkey_ceremonies (challenge_hash, session_hash, expires_s)
    SELECT ${challengeHash}, CAST(${sessionHash} AS TEXT), ${nowS + ceremonyS}
    WHERE (SELECT COUNT(*) FROM passkey_ceremonies) < ${ceremoniesMost}`,
];

/** Changes 0 rows when it was not begun in this session, has expired or was used. */
export const consumeCeremony = ({ challengeHash, sessionHash, nowS }: Ceremony): Statement =>
  sql`DELETE FROM passkey_ceremonies
    WHERE challenge_hash = ${challengeHash} AND expires_s > ${nowS}
      AND COALESCE(session_hash, '') = COALESCE(CAST(${sessionHash} AS TEXT), '')`;

/** In the order in which they were added. */
export const listPasskeys = (db: Database, { accountID, userID }: UserKey): Promise<readonly PasskeyRow[]> =>
  passkeys.all(db)(sql`SELECT * FROM passkeys WHERE account_id = ${accountID} AND user_id = ${userID}
    ORDER BY created_s, passkey_id`);

export const findPasskey = (db: Database, passkeyID: string): Promise<PasskeyRow | null> =>
  passkeys.first(db)(sql`SELECT * FROM passkeys WHERE passkey_id = ${passkeyID}`);

export const hasPasskey = (db: Database, { accountID, userID }: UserKey): Promise<boolean> =>
  findsRow(db)(sql`SELECT 1 FROM passkeys WHERE account_id = ${accountID} AND user_id = ${userID}`);

/** Changes 0 rows when the authenticator is known already, or the user has `passkeysMost`. */
export const insertPasskey = (one: Omit<PasskeyRow, 'lastUsedS'>): Statement =>
  sql`INSERT INTO passkeys (passkey_id, account_id, user_id, name, public_key, counter, is_backed_up, created_s)
    SELECT ${one.passkeyID}, ${one.accountID}, ${one.userID}, ${one.name}, ${one.publicKey}, ${one.counter},
      ${one.isBackedUp}, ${one.createdS}
    WHERE (SELECT COUNT(*) FROM passkeys WHERE account_id = ${one.accountID} AND user_id = ${one.userID}) < ${passkeysMost}
    ON CONFLICT (passkey_id) DO NOTHING`;

export const deletePasskey = ({ accountID, userID }: UserKey, passkeyID: string): Statement =>
  sql`DELETE FROM passkeys WHERE account_id = ${accountID} AND user_id = ${userID} AND passkey_id = ${passkeyID}`;

/** Changes 0 rows when another login with it was counted meanwhile: an authenticator that counts was copied. */
export const countUse = ({ passkeyID, counter }: PasskeyRow, next: number, nowS: number): Statement =>
  sql`UPDATE passkeys SET counter = ${next}, last_used_s = ${nowS}
    WHERE passkey_id = ${passkeyID} AND counter = ${counter}`;
