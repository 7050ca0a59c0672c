// The two ceremonies of WebAuthn (W3C Web Authentication Level 3, sections 7.1 and 7.2), by `@simplewebauthn/server`. A passkey is discoverable, so that
// no name shows which user has one, and verifies its user by PIN or finger: it is two factors by itself. Attestation is not asked for: any maker will do.
import { createHash } from 'node:crypto';
import type { UserKey } from '../../store/accounts/accounts.ts';
import { ceremonyS, type PasskeyRow } from './passkey-store.ts';
import type { AuthenticationResponse, RegistrationResponse } from './shapes.ts';

/** Loaded by the first ceremony: its 300 modules would take a sixth of the broker's start. */
const library = () => import('@simplewebauthn/server');

/** Ed25519 and ES256 (RFC 9053): what a unit verifies, too. */
const algorithms = [-8, -7];

export interface RelyingParty {
  readonly rpID: string;
  /** Origins of the console. */
  readonly origins: readonly string[];
}

/** The challenge and origin that a response names; null: it is none. Both are verified with the response. */
export function clientDataOf(clientDataJSON: string): { challenge: string; origin: string } | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString());
    if (typeof data !== 'object' || data === null || !('challenge' in data) || !('origin' in data))
      return null;
    const { challenge, origin } = data;
    return typeof challenge === 'string' && typeof origin === 'string' ? { challenge, origin } : null;
  } catch {
    return null;
  }
}

/**
 * The relying party of a console. Without an address in the configuration it is `localhost`, at any port: browsers give passkeys to no other origin
 * without TLS. @param consoleUrl of the configuration; empty: none. @param origin that a response names.
 */
export function relyingPartyOf(consoleUrl: string, origin: string | null = null): RelyingParty {
  if (consoleUrl !== '') {
    const url = new URL(consoleUrl);
    return { rpID: url.hostname, origins: [url.origin] };
  }
  const isLocal = origin !== null && URL.canParse(origin) && new URL(origin).hostname === 'localhost';
  return { rpID: 'localhost', origins: isLocal ? [origin] : [] };
}

/** A name of the user for the authenticator, which no other service can compare with its own. */
const handleOf = ({ accountID, userID }: UserKey): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHash('sha256')
      .update(JSON.stringify([accountID, userID]))
      .digest(),
  );

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'base64url'));

/** @param known credential ids that the user has already. */
export const registrationOptions = async (
  { rpID }: RelyingParty,
  user: UserKey,
  { challenge, known }: { readonly challenge: Uint8Array; readonly known: readonly string[] },
) =>
  (await library()).generateRegistrationOptions({
    rpName: 'Fleetward',
    rpID,
    userID: handleOf(user),
    userName: `${user.userID} (${user.accountID})`,
    challenge: new Uint8Array(challenge),
    timeout: ceremonyS * 1000,
    attestationType: 'none',
    excludeCredentials: known.map((id) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });

export const authenticationOptions = async ({ rpID }: RelyingParty, challenge: Uint8Array) =>
  (await library()).generateAuthenticationOptions({
    rpID,
    challenge: new Uint8Array(challenge),
    timeout: ceremonyS * 1000,
    userVerification: 'required',
  });

/** The passkey that a response proves; null: it proves none. */
export async function registered(
  { id, rawId, type, response }: RegistrationResponse,
  { rpID, origins }: RelyingParty,
  challenge: string,
): Promise<Pick<PasskeyRow, 'passkeyID' | 'publicKey' | 'counter' | 'isBackedUp'> | null> {
  const { clientDataJSON, attestationObject } = response;
  const { verifyRegistrationResponse } = await library();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    // Only what the signature or the challenge covers.
    response: {
      id,
      rawId,
      type,
      clientExtensionResults: {},
      response: { clientDataJSON, attestationObject },
    },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpID,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => ({ verified: false, registrationInfo: undefined }));
  if (!verified || registrationInfo === undefined) return null;
  const { credential, credentialBackedUp } = registrationInfo;
  return {
    passkeyID: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    isBackedUp: credentialBackedUp ? 1 : 0,
  };
}

/** The authenticator's count after a login; null: the response does not prove the passkey, or a copy of it has counted further. */
export async function authenticated(
  { id, rawId, type, response }: AuthenticationResponse,
  { rpID, origins }: RelyingParty,
  { challenge, passkey }: { readonly challenge: string; readonly passkey: PasskeyRow },
): Promise<number | null> {
  const { clientDataJSON, authenticatorData, signature } = response;
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId,
      type,
      clientExtensionResults: {},
      response: { clientDataJSON, authenticatorData, signature },
    },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpID,
    requireUserVerification: true,
    credential: { id: passkey.passkeyID, publicKey: bytesOf(passkey.publicKey), counter: passkey.counter },
  }).catch(() => ({ verified: false, authenticationInfo: undefined }));
  return verified && authenticationInfo !== undefined ? authenticationInfo.newCounter : null;
}
