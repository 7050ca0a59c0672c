// A login provider in this process: it proves what a code stands for to the holder of a verifier.
import type { Claims, ProviderRules } from '../../../broker/core/accounts/provider-identity.ts';
import type { IdentityProvider } from '../../../broker/ports/identity-provider.ts';
import { AppError } from '../../../src/core/errors.ts';

export const testProviderRules: ProviderRules = {
  issuer: 'https://login.example.com',
  accountID: 'acme',
  accountClaim: '',
  accounts: [],
  userClaim: 'preferred_username',
  roleClaim: 'realm_access.roles',
  roles: [
    { value: 'fleet-viewers', role: 'viewer' },
    { value: 'fleet-operators', role: 'operator' },
    { value: 'fleet-admins', role: 'admin' },
  ],
  groupsClaim: null,
  sessionS: 8 * 3600,
};

/** Claims of a person with these roles. */
export const claimsOf = (sub: string, roles: readonly string[], more: Claims = {}): Claims => ({
  sub,
  preferred_username: sub,
  realm_access: { roles },
  // Later than any test's clock: the person has just logged in.
  auth_time: 9_999_999_999,
  ...more,
});

/** By code what it proves; an AppError is thrown. `good-code` stands for a viewer. */
export function createTestProvider(
  codes: Readonly<Record<string, Claims | AppError>> = {},
  rules: ProviderRules = testProviderRules,
): IdentityProvider {
  const known = { 'good-code': claimsOf('from-provider', ['fleet-viewers']), ...codes };
  return {
    rules,
    async authorizationURL({ state, nonce }) {
      return `${rules.issuer}/authorize?${new URLSearchParams({ state, nonce }).toString()}`;
    },
    logoutURL: async () => `${rules.issuer}/logout`,
    async redeem({ code }, { verifier }) {
      const proven = Object.hasOwn(known, code) ? known[code as keyof typeof known] : undefined;
      if (proven instanceof AppError) throw proven;
      if (proven === undefined || !/^[\w-]{43,128}$/.test(verifier)) {
        throw new AppError('login_failed', 'The provider does not know the code');
      }
      return proven;
    },
  };
}
