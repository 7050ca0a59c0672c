// A provider at which users log in (OpenID Connect): what the HTTP service needs of it.
import type { Claims, ProviderRules } from '../core/accounts/provider-identity.ts';

/** Secrets of one login; `state` and a hash of `verifier` travel through the browser. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** 43 to 128 characters (RFC 7636). */
  readonly verifier: string;
}

/** What the provider sent the browser back with. */
export interface ProviderAnswer {
  readonly code: string;
  readonly state: string;
  /** Issuer (RFC 9207), where the provider names it. */
  readonly iss: string | undefined;
}

export interface IdentityProvider {
  readonly rules: ProviderRules;
  /**
   * Where the browser is sent to log in.
   * @param isFresh true: the person must log in anew, also when the provider still has a session.
   * @throws AppError `unavailable` while the provider is not reached.
   */
  authorizationURL(secrets: LoginSecrets, isFresh: boolean): Promise<string>;
  /**
   * Redeems a code: state, issuer, audience, signature, times and nonce of the ID token are checked.
   * @returns the claims of the ID token.
   * @throws AppError `login_failed` when anything is not as it must be; `unavailable` while the provider is not reached.
   */
  redeem(answer: ProviderAnswer, secrets: LoginSecrets): Promise<Claims>;
  /** Page of the provider that ends the person's session there; null when it names none, or is not reached. */
  logoutURL(): Promise<string | null>;
}
