// Settings of the login provider: off unless it is set, complete when it is, and never over plain http.
import { describe, expect, it } from 'vitest';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { AppError } from '../../src/core/errors.ts';

const good = {
  'oidc-issuer': 'https://login.example.com/realms/fleet',
  'oidc-client-id': 'fleet',
  'oidc-redirect-url': 'https://fleet.example.com/console/',
  'oidc-account-id': 'acme',
  'oidc-roles': 'fleet-admins=admin,cn=drivers=viewer',
};

function refusalOf(flags: Readonly<Record<string, string>>): string {
  try {
    loadBrokerConfig({ file: null, env: {}, flags });
  } catch (thrown) {
    if (thrown instanceof AppError) return `${thrown.message} ${thrown.hint ?? ''}`;
    throw thrown;
  }
  return 'it was accepted';
}

const without = (name: string) =>
  Object.fromEntries(Object.entries(good).filter(([other]) => other !== name));

describe('the settings of the login provider', () => {
  it('are off by default, and complete as in the guide', () => {
    expect(loadBrokerConfig({ file: null, env: {}, flags: {} }).value.oidc.issuer).toBe('');
    const { oidc } = loadBrokerConfig({ file: null, env: {}, flags: good }).value;
    expect(oidc.roles).toEqual(['fleet-admins=admin', 'cn=drivers=viewer']);
    expect(oidc.sessionHours).toBe(12);
  });

  it.each(Object.keys(good))('without %s are refused with a text that names it', (name) => {
    const [, ...parts] = name.split('-');
    expect(refusalOf(without(name)).toLowerCase()).toContain(`oidc.${parts.join('')}`);
  });

  it.each([
    ['oidc-issuer', 'http://login.example.com'],
    ['oidc-issuer', 'login.example.com'],
    ['oidc-issuer', 'https://login.example.com/?realm=fleet'],
    ['oidc-issuer', 'https://ann:secret@login.example.com'],
    ['oidc-redirect-url', 'http://fleet.example.com/'],
    ['oidc-redirect-url', 'https://fleet.example.com/#back'],
    ['oidc-redirect-url', 'javascript:alert(1)'],
    ['oidc-redirect-url', 'https://fleet.example.com'],
    ['oidc-roles', 'fleet-admins=root'],
    ['oidc-roles', '=admin'],
    ['oidc-scopes', 'profile'],
    ['oidc-roles', 'fleet=admin,fleet=viewer'],
    ['oidc-account-claim', 'org'],
    ['oidc-accounts', 'org-17=acme'],
    ['oidc-session-hours', '13'],
  ])('refuse %s %s', (name, value) => {
    expect(refusalOf({ ...good, [name]: value })).not.toBe('it was accepted');
  });

  it.each([
    ['org-17=acme,org-18=rival', 'it was accepted'],
    ['org-17=acme,org-17=rival', 'more than once'],
    ['org-17=', 'array of value=accountID'],
    ['org-17=no such id', 'array of value=accountID'],
    ['', 'without the other'],
  ])('of accounts by a claim with the table "%s": %s', (accounts, outcome) => {
    const flags = { ...without('oidc-account-id'), 'oidc-account-claim': 'org', 'oidc-accounts': accounts };
    expect(refusalOf(flags)).toContain(outcome);
  });

  it.each(['http://127.0.0.1:9000', 'http://localhost:9000', 'http://[::1]:9000'])('allow %s', (issuer) => {
    expect(refusalOf({ ...good, 'oidc-issuer': issuer })).toBe('it was accepted');
  });
});
