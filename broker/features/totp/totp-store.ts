// Authenticator apps of users, set-ups that have begun, recovery codes, and wrong codes. A secret is kept as it is, like that of a webhook: it is needed
// to compute the code. Of a recovery code the table holds the hash.
import { ddl } from '../../../src/migrate.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { UserKey } from '../../store/accounts/accounts.ts';
import { findsRow, numberOf, readNumber } from '../../store/base/row.ts';
import { type Infer, shape, table } from '../../store/base/table.ts';

/** Time limit of a set-up, in s. */
export const setupS = 600;
/** Recovery codes of one user. */
export const recoveryMost = 10;

const ofUser = 'FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id) ON DELETE CASCADE';

const totp = table(
  'totp',
  {
    accountID: 'TEXT NOT NULL',
    userID: 'TEXT NOT NULL',
    /** Base64url. */
    secret: 'TEXT NOT NULL',
    /** Newest step whose code was accepted. */
    lastStep: 'BIGINT NOT NULL',
    createdS: 'BIGINT NOT NULL',
    /** Null: not used yet. */
    lastUsedS: 'BIGINT',
  },
  `PRIMARY KEY (account_id, user_id), ${ofUser}`,
);
export type TotpRow = Infer<typeof totp>;

const setups = table(
  'totp_setups',
  {
    accountID: 'TEXT NOT NULL',
    userID: 'TEXT NOT NULL',
    /** Session that began it. */
    sessionHash: 'TEXT NOT NULL',
    secret: 'TEXT NOT NULL',
    expiresS: 'BIGINT NOT NULL',
  },
  `PRIMARY KEY (account_id, user_id), ${ofUser}`,
);

const recovery = table(
  'totp_recovery',
  { accountID: 'TEXT NOT NULL', userID: 'TEXT NOT NULL', codeHash: 'TEXT NOT NULL' },
  `PRIMARY KEY (account_id, user_id, code_hash), ${ofUser}`,
);

const tries = table(
  'totp_tries',
  {
    accountID: 'TEXT NOT NULL',
    userID: 'TEXT NOT NULL',
    /** Network from which the user has logged in before; '': all others. */
    network: 'TEXT NOT NULL',
    /** Codes in a row that were not right. */
    tries: 'INTEGER NOT NULL',
    triedS: 'BIGINT NOT NULL',
    /** When the next one is taken. */
    nextS: 'BIGINT NOT NULL',
  },
  `PRIMARY KEY (account_id, user_id, network), ${ofUser}`,
);

export const totpTables: readonly Statement[] = [
  totp.create,
  setups.create,
  ddl('CREATE INDEX totp_setups_by_expiry ON totp_setups (expires_s)'),
  recovery.create,
  tries.create,
];

const isOf = ({ accountID, userID }: UserKey): Statement =>
  sql`account_id = ${accountID} AND user_id = ${userID}`;

export const findTotp = (db: Database, user: UserKey): Promise<TotpRow | null> =>
  totp.first(db)(sql`SELECT * FROM totp WHERE ${isOf(user)}`);

/** Condition: the user has one. */
export const isTotp = (user: UserKey): Statement => sql`EXISTS (SELECT 1 FROM totp WHERE ${isOf(user)})`;

export const hasTotp = (db: Database, user: UserKey): Promise<boolean> =>
  findsRow(db)(sql`SELECT 1 FROM totp WHERE ${isOf(user)}`);

export const countRecovery = async (db: Database, user: UserKey): Promise<number> =>
  (await readNumber(db)(sql`SELECT COUNT(*) FROM totp_recovery WHERE ${isOf(user)}`)) ?? 0;

interface Setup extends UserKey {
  readonly sessionHash: string;
  readonly nowS: number;
}

/** Replaces the set-up of the user that has begun before. */
export const beginSetup = (
  { accountID, userID, sessionHash, nowS }: Setup,
  secret: string,
): readonly Statement[] => [
  sql`DELETE FROM totp_setups WHERE expires_s <= ${nowS}`,
  sql`INSERT INTO totp_setups (account_id, user_id, session_hash, secret, expires_s)
    VALUES (${accountID}, ${userID}, ${sessionHash}, ${secret}, ${nowS + setupS})
    ON CONFLICT (account_id, user_id) DO UPDATE SET session_hash = excluded.session_hash, secret = excluded.secret,
      expires_s = excluded.expires_s`,
];

const isBegun = (setup: Setup): Statement =>
  sql`${isOf(setup)} AND session_hash = ${setup.sessionHash} AND expires_s > ${setup.nowS}`;

const secrets = shape({ secret: setups.columns.secret });

/** The secret of a set-up that this session began; null: there is none that has not expired. */
export const findSetup = async (db: Database, setup: Setup): Promise<string | null> =>
  (await secrets.first(db)(sql`SELECT secret FROM totp_setups WHERE ${isBegun(setup)}`))?.secret ?? null;

/** Condition: the set-up with this secret is open, in this session. */
export const isSetUp = (setup: Setup, secret: string): Statement =>
  sql`EXISTS (SELECT 1 FROM totp_setups WHERE ${isBegun(setup)} AND secret = ${secret})`;

interface NewTotp {
  readonly secret: string;
  /** Of the code that confirmed it. */
  readonly step: number;
  readonly codeHashes: readonly string[];
}

/** Makes a set-up count, in place of an older one, with new recovery codes. The last result changes 0 rows when it is no longer open. */
export function confirmSetup(setup: Setup, { secret, step, codeHashes }: NewTotp): readonly Statement[] {
  const { accountID, userID, nowS } = setup;
  const isOpen = isSetUp(setup, secret);
  return [
    sql`DELETE FROM totp WHERE ${isOf(setup)} AND ${isOpen}`,
    sql`DELETE FROM totp_recovery WHERE ${isOf(setup)} AND ${isOpen}`,
    sql`DELETE FROM totp_tries WHERE ${isOf(setup)} AND ${isOpen}`,
    sql`INSERT INTO totp (account_id, user_id, secret, last_step, created_s)
      SELECT ${accountID}, ${userID}, ${secret}, ${step}, ${nowS} WHERE ${isOpen}`,
    ...codeHashes.map(
      (codeHash) => sql`INSERT INTO totp_recovery (account_id, user_id, code_hash)
        SELECT ${accountID}, ${userID}, ${codeHash} WHERE ${isOpen}`,
    ),
    sql`DELETE FROM totp_setups WHERE ${isBegun(setup)} AND secret = ${secret}`,
  ];
}

/** The first result changes 0 rows when the user has none. */
export const deleteTotp = (user: UserKey): readonly Statement[] => [
  sql`DELETE FROM totp WHERE ${isOf(user)}`,
  sql`DELETE FROM totp_setups WHERE ${isOf(user)}`,
  sql`DELETE FROM totp_recovery WHERE ${isOf(user)}`,
  sql`DELETE FROM totp_tries WHERE ${isOf(user)}`,
];

/** Changes 0 rows when this step, a later one or another secret counts meanwhile: no code works twice. */
export const useStep = ({ secret, ...user }: TotpRow, step: number, nowS: number): Statement =>
  sql`UPDATE totp SET last_step = ${step}, last_used_s = ${nowS}
    WHERE ${isOf(user)} AND secret = ${secret} AND last_step < ${step}`;

/** Changes 0 rows when it is none, or was used. */
export const useRecovery = (user: UserKey, codeHash: string): Statement =>
  sql`DELETE FROM totp_recovery WHERE ${isOf(user)} AND code_hash = ${codeHash}`;

export interface Tries extends UserKey {
  readonly network: string;
}

const triesSeen = shape({ tries: numberOf, triedS: numberOf, nextS: numberOf });

export const findTries = (db: Database, of: Tries) =>
  triesSeen.first(db)(
    sql`SELECT tries, tried_s, next_s FROM totp_tries WHERE ${isOf(of)} AND network = ${of.network}`,
  );

/** Counts a code before it is judged. Changes 0 rows when another one was counted meanwhile. @param seen as it was read; null: none. */
export const countTry = (
  of: Tries,
  seen: { readonly tries: number; readonly triedS: number } | null,
  next: { readonly tries: number; readonly nowS: number; readonly nextS: number },
): Statement =>
  seen === null
    ? sql`INSERT INTO totp_tries (account_id, user_id, network, tries, tried_s, next_s)
        VALUES (${of.accountID}, ${of.userID}, ${of.network}, ${next.tries}, ${next.nowS}, ${next.nextS})
        ON CONFLICT (account_id, user_id, network) DO NOTHING`
    : sql`UPDATE totp_tries SET tries = ${next.tries}, tried_s = ${next.nowS}, next_s = ${next.nextS}
        WHERE ${isOf(of)} AND network = ${of.network} AND tries = ${seen.tries} AND tried_s = ${seen.triedS}`;

/** After a right code. */
export const forgetTries = (of: Tries): Statement =>
  sql`DELETE FROM totp_tries WHERE ${isOf(of)} AND network = ${of.network}`;
