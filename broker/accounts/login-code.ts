// A one-time code that begins a session of a user, made by the operator at the broker's machine: for the link of the demo, and for an
// account whose administrator has lost the password. It is returned once and kept only as a hash.
import { AppError } from '../../src/core/errors.ts';
import { findUser, type UserKey } from '../store/accounts/accounts.ts';
import { insertLoginCode, isLoginCode, loginCodeS } from '../store/accounts/login-codes.ts';
import { hashToken } from '../store/accounts/sessions.ts';
import { type AdministrationPorts, auditEntryOf, needAccount } from './administration.ts';

/** Bytes of a code: 256 random bits, base64url. */
const codeBytes = 32;

export interface MadeLoginCode {
  /** Cannot be read again. */
  readonly code: string;
  /** Epoch seconds. */
  readonly expires: number;
}

/**
 * Makes a login code; one that the user had is void from then on.
 * @throws AppError `not_found`; `conflict` where no code may stand for the user: in an account whose cuts need a second user, for a user
 *   of the login provider, and while the user or the account is suspended.
 */
export async function makeLoginCode(ports: AdministrationPorts, key: UserKey): Promise<MadeLoginCode> {
  const { accountID, userID } = key;
  const account = await needAccount(ports, accountID);
  const user = await findUser(ports.db, key);
  if (user === null) throw new AppError('not_found', `There is no user ${JSON.stringify(userID)}`);
  const code = Buffer.from(ports.entropy.bytes(codeBytes)).toString('base64url');
  const codeHash = hashToken(code);
  const nowS = Math.floor(ports.clock.utcMs() / 1000);
  const expires = nowS + loginCodeS;
  const onlyIf = isLoginCode(codeHash);
  const audited = { action: 'logincode.create', accountID, object: userID, detail: { expires }, onlyIf };
  const [, made] = await ports.db.write([
    ...insertLoginCode({ ...key, codeHash, nowS }),
    ...auditEntryOf(ports, audited),
  ]);
  if (made?.changes === 1) return { code, expires };
  if (!user.hasPassword)
    throw new AppError('conflict', `User ${userID} logs in at the login provider; no code was made`);
  if (account.needsApproval)
    throw new AppError(
      'conflict',
      `Account ${accountID} needs a second user for an engine cut; no code was made`,
      { hint: 'A code could stand for the second user. Another administrator can set a new password.' },
    );
  throw new AppError(
    'conflict',
    `User ${userID} or account ${accountID} is suspended or over; no code was made`,
  );
}
