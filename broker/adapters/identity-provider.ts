// A provider at which users log in, over openid-client: authorization code flow with PKCE (S256), state and nonce. It is looked
// up at the first login, never at the start: a provider that is down keeps neither the broker nor logins by password
// from working. It must never log a code, a token or a claim.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { AppError, codeOf, messageOf } from '../../src/core/errors.ts';
import type { Clock, Log } from '../../src/ports.ts';
import type { OidcConfig } from '../config/oidc-config.ts';
import type { Claims, ProviderRules } from '../core/accounts/provider-identity.ts';
import { roles } from '../core/accounts/session.ts';
import type { IdentityProvider, LoginSecrets, ProviderAnswer } from '../ports/identity-provider.ts';
import { readSecretLine } from './keys/secret-file.ts';

/** How long an answer of the provider may take, to its last byte, in s. */
const timeoutS = 10;
/** Longest answer of the provider, in bytes: of its settings, its keys or a token. */
const answerBytesMost = 1024 * 1024;
/** Codes that are redeemed at once; while the provider is slow a further one is refused instead of held. */
const redeemedMost = 64;
/** After this long the provider is looked up anew; after a failure much earlier. In ms. */
const lookUp = { everyMs: 24 * 3600_000, retryMs: 5000 } as const;

/** `value=name`, as a table of the settings writes it; the value may hold further `=`. */
function parseRow(entry: string): { readonly value: string; readonly name: string } {
  const at = entry.lastIndexOf('=');
  return { value: entry.slice(0, at), name: entry.slice(at + 1) };
}

function rulesOf(oidc: OidcConfig): ProviderRules {
  const roleRow = (entry: string) => {
    const { value, name } = parseRow(entry);
    return { value, role: roles.find((one) => one === name) ?? 'viewer' };
  };
  const accountRow = (entry: string) => {
    const { value, name } = parseRow(entry);
    return { value, accountID: name };
  };
  return {
    issuer: oidc.issuer,
    accountID: oidc.accountID === '' ? null : oidc.accountID,
    accountClaim: oidc.accountClaim,
    accounts: oidc.accounts.map(accountRow),
    userClaim: oidc.userClaim,
    roleClaim: oidc.roleClaim,
    roles: oidc.roles.map(roleRow),
    groupsClaim: oidc.groupsClaim === '' ? null : oidc.groupsClaim,
    sessionS: oidc.sessionHours * 3600,
  };
}

/** Fetches without holding more than `answerBytesMost` of an answer, also of one that was compressed. */
const boundedFetch: CustomFetch = async (url, options) => {
  const { method, headers: sent, redirect, signal = null, body = null } = options;
  const answer = await fetch(url, { method, headers: sent, redirect, signal, body });
  if (answer.body === null) return answer;
  let bytes = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > answerBytesMost) throw new Error(`the answer is longer than ${answerBytesMost} bytes`);
      controller.enqueue(chunk);
    },
  });
  const { status, headers } = answer;
  return new Response(answer.body.pipeThrough(bounded), { status, headers });
};

/** Codes of a fault and of what caused it: texts of causes may quote an answer, and with it a token. */
function codesOf(thrown: unknown): string {
  const codes: string[] = [];
  let fault = thrown;
  for (let depth = 0; depth < 5 && typeof fault === 'object' && fault !== null; depth++) {
    // What the provider calls it (RFC 6749 section 5.2): `invalid_grant`.
    const named = fault instanceof ResponseBodyError ? fault.error : codeOf(fault);
    if (/^[\w.-]{1,64}$/.test(named)) codes.push(named);
    fault = 'cause' in fault ? fault.cause : null;
  }
  return codes.join(' ');
}

/** True when the login failed because the provider is down, slow, or does not accept this service. */
function isProviderFault(thrown: unknown): boolean {
  if (thrown instanceof ResponseBodyError) return thrown.status >= 500 || thrown.error === 'invalid_client';
  // What fetch throws when there is no connection; and the client secret is wrong.
  if (thrown instanceof TypeError || thrown instanceof WWWAuthenticateChallengeError) return true;
  const codes = [
    'OAUTH_TIMEOUT',
    'OAUTH_ABORT',
    'OAUTH_RESPONSE_IS_NOT_CONFORM',
    'OAUTH_RESPONSE_IS_NOT_JSON',
    'OAUTH_PARSE_ERROR',
  ];
  return thrown instanceof ClientError && codes.includes(codeOf(thrown));
}

const unavailable = (cause: unknown): AppError =>
  new AppError('unavailable', 'The login provider is not reached, or does not accept this service', {
    retryAfterS: lookUp.retryMs / 1000,
    hint: 'Try again later; users with a password log in with it.',
    cause,
  });

interface ProviderDeps {
  readonly clock: Clock;
  readonly log: Log;
}

interface Found {
  readonly configuration: Promise<Configuration>;
  /** Monotonic time until which it is used, in ms. */
  untilMs: number;
}

/** The settings of the provider, looked up when they are needed; a failure is kept for some seconds. */
function createDiscovery(
  { issuer, clientID, clientAuth }: OidcConfig,
  secret: string | null,
  { clock, log }: ProviderDeps,
): () => Promise<Configuration> {
  const server = new URL(issuer);
  const withSecret = clientAuth === 'basic' ? ClientSecretBasic : ClientSecretPost;
  const auth = secret === null ? None() : withSecret(secret);
  // The settings allow http on this machine only.
  const execute = [
    enableNonRepudiationChecks,
    ...(server.protocol === 'http:' ? [allowInsecureRequests] : []),
  ];
  const options = { execute, timeout: timeoutS, [customFetch]: boundedFetch };
  /** To the letter: the library accepts templates of issuers, of which every customer of a large provider is one. */
  const search = async (): Promise<Configuration> => {
    const configuration = await discovery(server, clientID, undefined, auth, options);
    const { issuer: named, authorization_endpoint: page = '' } = configuration.serverMetadata();
    if (named !== issuer) {
      throw new AppError('config', `The provider calls itself ${JSON.stringify(named.slice(0, 500))}`, {
        hint: 'Set oidc.issuer to exactly that, unless it is a template for several customers.',
      });
    }
    const protocol = URL.canParse(page) ? new URL(page).protocol : '';
    if (protocol === 'https:' || protocol === server.protocol) return configuration;
    throw new AppError('config', 'The provider names no login page with https', {
      hint: 'Look at authorization_endpoint of its discovery document.',
    });
  };
  let found: Found | null = null;
  return async () => {
    const nowMs = clock.monoMs();
    if (found === null || nowMs >= found.untilMs) {
      const begun: Found = {
        configuration: search(),
        untilMs: nowMs + lookUp.everyMs,
      };
      found = begun;
      begun.configuration.catch((thrown: unknown) => {
        begun.untilMs = clock.monoMs() + lookUp.retryMs;
        log.warn('provider_not_found', { issuer, reason: messageOf(thrown), codes: codesOf(thrown) });
      });
    }
    return found.configuration.catch((thrown: unknown) => {
      throw unavailable(thrown);
    });
  };
}

/** Where the browser comes back to, with what it brings: the library reads the answer from such an address. */
function answeredUrl(redirectUrl: string, { code, state, iss }: ProviderAnswer): URL {
  const url = new URL(redirectUrl);
  url.searchParams.set('code', code);
  url.searchParams.set('state', state);
  if (iss !== undefined) url.searchParams.set('iss', iss);
  return url;
}

/** The provider of the settings; null when none is set. @throws AppError `config` when the secret cannot be read. */
export function openIdentityProvider(oidc: OidcConfig, deps: ProviderDeps): IdentityProvider | null {
  if (oidc.issuer === '') return null;
  const secret =
    oidc.clientSecretFile === '' ? null : readSecretLine('oidc.clientSecretFile', oidc.clientSecretFile);
  const configuration = createDiscovery(oidc, secret, deps);
  let redeeming = 0;

  async function redeemed(answer: ProviderAnswer, secrets: LoginSecrets): Promise<Claims> {
    const provider = await configuration();
    try {
      const tokens = await authorizationCodeGrant(provider, answeredUrl(oidc.redirectUrl, answer), {
        expectedState: secrets.state,
        expectedNonce: secrets.nonce,
        pkceCodeVerifier: secrets.verifier,
        idTokenExpected: true,
      });
      return { ...tokens.claims() };
    } catch (thrown) {
      const isFault = isProviderFault(thrown);
      const fields = { issuer: oidc.issuer, reason: messageOf(thrown), codes: codesOf(thrown) };
      deps.log.warn(isFault ? 'provider_failed' : 'provider_login_refused', fields);
      if (isFault) throw unavailable(thrown);
      const message = 'The provider or its answer did not prove who you are; log in again';
      throw new AppError('login_failed', message, { cause: thrown });
    }
  }

  return {
    rules: rulesOf(oidc),
    async authorizationURL({ state, nonce, verifier }, isFresh) {
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: oidc.redirectUrl,
        scope: oidc.scopes.join(' '),
        response_type: 'code',
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
        // With max_age the ID token must say when the person logged in.
        ...(isFresh ? { prompt: 'login', max_age: '0' } : {}),
      });
      return url.href;
    },
    async redeem(answer, secrets) {
      if (redeeming >= redeemedMost) throw unavailable(new Error(`${redeemedMost} codes are being redeemed`));
      redeeming += 1;
      try {
        return await redeemed(answer, secrets);
      } finally {
        redeeming -= 1;
      }
    },
    async logoutURL() {
      try {
        return buildEndSessionUrl(await configuration()).href;
      } catch {
        // It names no such page, or one without https: nothing that a login should fail for.
        return null;
      }
    },
  };
}
