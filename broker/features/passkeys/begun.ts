// The begin of a ceremony, of a login or of a new passkey.
import { AppError } from '../../../src/core/errors.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { tokenRandomBytes } from '../../core/accounts/session.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import { beginCeremony } from './passkey-store.ts';

/** @param sessionHash that adds a passkey; null: a login. @returns the challenge. @throws AppError `throttled` when too many have begun. */
export async function begun(
  { db, clock, entropy }: ApiServices,
  sessionHash: string | null,
): Promise<Uint8Array> {
  const challenge = entropy.bytes(tokenRandomBytes);
  const challengeHash = hashToken(Buffer.from(challenge).toString('base64url'));
  const nowS = Math.floor(clock.utcMs() / 1000);
  const results = await db.write(beginCeremony({ challengeHash, sessionHash, nowS }));
  if (results[1]?.changes !== 1)
    throw new AppError('throttled', 'Too many logins have begun', { retryAfterS: 60 });
  return challenge;
}
