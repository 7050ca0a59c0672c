// The settings of login by OpenID Connect. Off by default. The provider decides who may log in and with which role, so that
// everything that leads to it must be https; a client secret stands in a file, never in a setting.
import { type Static, Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { idPatternSource } from '../../src/core/ids.ts';
import { isLoopback } from './listener-config.ts';

const text = (description: string, options: object = {}) =>
  Type.String({ default: '', maxLength: 500, description, ...options });

/** No longer than the time without use after which a login ends. */
export const providerSessionHoursMost = 12;

export const oidcSchema = Type.Object({
  issuer: text(
    'Issuer of the OpenID Connect provider (https://login.example.com); empty: no login by a provider',
  ),
  clientID: text('Client id that the provider gave to this service'),
  clientSecretFile: text(
    'File with the client secret in its first line, mode 0600; empty for a client without a secret',
  ),
  clientAuth: Type.Enum(['basic', 'post'], {
    default: 'basic',
    description: 'How the client secret is sent: client_secret_basic or client_secret_post',
  }),
  redirectUrl: text('Page of the app that the provider sends the browser back to, as registered there'),
  accountID: text('Account that users of the provider log in to', { pattern: `^$|${idPatternSource}` }),
  accountClaim: text('Claim that names the account, instead of one account for all'),
  accounts: Type.Array(
    Type.String({
      pattern: `^.{1,200}=${idPatternSource.slice(1, -1)}$`,
      description: 'value=accountID',
    }),
    {
      default: [],
      maxItems: 1000,
      description:
        'Account of each value of that claim (org-17=acme), with commas between them; others may not log in',
    },
  ),
  userClaim: Type.String({
    minLength: 1,
    maxLength: 200,
    default: 'preferred_username',
    description: 'Claim that a new user is named by; later logins go by issuer and subject',
  }),
  roleClaim: Type.String({
    minLength: 1,
    maxLength: 200,
    default: 'roles',
    description: 'Claim with the roles or groups of a user; nested ones with dots (realm_access.roles)',
  }),
  roles: Type.Array(
    Type.String({
      pattern: '^.{1,200}=(viewer|operator|admin)$',
      description: 'value=viewer, value=operator or value=admin',
    }),
    {
      default: [],
      maxItems: 100,
      description:
        'Role of each value of that claim (fleet-admins=admin), with commas between them; others may not log in',
    },
  ),
  groupsClaim: text(
    'Claim with ids of groups whose devices a user sees (`all`: every device); empty: every device',
  ),
  scopes: Type.Array(Type.String({ pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,100}$' }), {
    default: ['openid', 'profile'],
    maxItems: 20,
    description: 'Scopes that are asked for, with commas between them; openid must be one',
  }),
  sessionHours: Type.Integer({
    minimum: 1,
    maximum: providerSessionHoursMost,
    default: providerSessionHoursMost,
    description: 'Hours after which a user of the provider has to log in again',
  }),
});

export type OidcConfig = Static<typeof oidcSchema>;

function fail(message: string, hint: string): never {
  throw new AppError('config', message, { hint });
}

/** https, or a program of this machine; without query and fragment, and written as URLs are compared. */
function checkUrl(key: string, value: string): void {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isLocal =
    url !== null && url.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  if (url === null || (url.protocol !== 'https:' && !isLocal)) {
    fail(
      `${key} ${JSON.stringify(value)} is no https URL`,
      'Write it in full, as https://login.example.com/.',
    );
  }
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    fail(`${key} ${JSON.stringify(value)} has a query, a fragment or a user`, 'Leave them out.');
  }
}

/** A value that stood twice would mean what stands first. */
function needOneEach(key: string, rows: readonly string[]): void {
  const values = rows.map((row) => row.slice(0, row.lastIndexOf('=')));
  const twice = values.find((value, at) => values.indexOf(value) !== at);
  if (twice !== undefined) {
    fail(`${key} holds ${JSON.stringify(twice)} more than once`, 'Leave one line for each value.');
  }
}

/** @throws AppError `config` when settings are missing or contradict each other. */
export function checkOidc(oidc: OidcConfig): void {
  const { issuer, clientID, redirectUrl, accountID, accountClaim, accounts, roles, scopes } = oidc;
  if (issuer === '') {
    const isMeant = clientID !== '' || redirectUrl !== '' || roles.length > 0;
    if (isMeant)
      fail('oidc.issuer is not set, but other settings of oidc are', 'Set it, or remove the others.');
    return;
  }
  checkUrl('oidc.issuer', issuer);
  if (clientID === '')
    fail('oidc.issuer is set but oidc.clientID is not', 'Set the id that the provider gave.');
  if (redirectUrl === '') {
    fail(
      'oidc.issuer is set but oidc.redirectUrl is not',
      'Set the page of the app that the browser comes back to.',
    );
  }
  checkUrl('oidc.redirectUrl', redirectUrl);
  const { href } = new URL(redirectUrl);
  // The provider compares to the letter, and the token request sends it as URLs are written.
  if (href !== redirectUrl)
    fail(`oidc.redirectUrl ${redirectUrl} is not written as URLs are compared`, `Write ${href}.`);
  if ((accountID === '') === (accountClaim === '')) {
    fail(
      'oidc.accountID and oidc.accountClaim: exactly one must be set',
      'Set the account that all users of the provider belong to, or the claim that names it.',
    );
  }
  if ((accountClaim === '') !== (accounts.length === 0)) {
    fail(
      'oidc.accountClaim and oidc.accounts: one is set without the other',
      'List each value of the claim with the account that it stands for, as org-17=acme.',
    );
  }
  needOneEach('oidc.accounts', accounts);
  needOneEach('oidc.roles', roles);
  if (roles.length === 0) {
    fail(
      'oidc.roles is empty: no user could log in',
      'List values of the role claim, as fleet-admins=admin.',
    );
  }
  if (!scopes.includes('openid'))
    fail('oidc.scopes lacks openid', 'Add it: without it there is no ID token.');
}
