// The access token and the life of a session.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideSession,
  formatToken,
  parseToken,
  roleCovers,
  roles,
  sessionLimits,
  tokenOf,
  tokenRandomBytes,
} from '../../broker/core/accounts/session.ts';

const owner = { accountID: 'acme', userID: 'ann' };
const random = Uint8Array.from({ length: tokenRandomBytes }, (_, index) => index);
const token = formatToken(owner, random);

describe('a token', () => {
  it('is account, user and at least 128 random bits, joined by an encoded bar', () => {
    expect(token).toMatch(/^acme%7Cann%7C[0-9a-f]{64}$/);
    expect(tokenRandomBytes * 8).toBeGreaterThanOrEqual(128);
  });

  it('gives back its names', () => {
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
    const bytes = fc.uint8Array({ minLength: tokenRandomBytes, maxLength: tokenRandomBytes });
    fc.assert(
      fc.property(id, id, bytes, (accountID, userID, secret) => {
        expect(parseToken(formatToken({ accountID, userID }, secret))).toEqual({ accountID, userID });
      }),
    );
  });

  it('of any other shape is not parsed', () => {
    const upper = token.replace(/[0-9a-f]{64}$/, (digits) => digits.toUpperCase().replace(/^0/, 'A'));
    const others = [
      '',
      'x',
      `${token}0`,
      token.slice(0, -1),
      `${token}%7C1`,
      token.replaceAll('%7C', '|'),
      upper,
    ];
    for (const other of others) expect.soft(parseToken(other), other).toBeNull();
  });

  it('never breaks on what a client may send', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (text) => {
        expect(parseToken(text)).toBeNull();
      }),
    );
  });

  it('is the header as it stands, or what follows Bearer; basic authentication is ignored', () => {
    expect(tokenOf(token)).toBe(token);
    expect(tokenOf(`Bearer ${token}`)).toBe(token);
    expect(tokenOf(`bearer ${token}`)).toBe(token);
    expect(tokenOf(`Basic ${Buffer.from('ann:secret').toString('base64')}`)).toBeNull();
    expect(tokenOf(undefined)).toBeNull();
  });
});

describe('a session', () => {
  const times = { createdS: 1000, lastUsedS: 1000 };

  it('lives while it is used, and its use is recorded at most once a minute', () => {
    expect(decideSession(times, 1000 + sessionLimits.touchS - 1)).toBe('live');
    expect(decideSession(times, 1000 + sessionLimits.touchS)).toBe('touch');
  });

  it('ends after 12 hours without use', () => {
    expect(decideSession(times, 1000 + 12 * 3600 - 1)).toBe('touch');
    expect(decideSession(times, 1000 + 12 * 3600)).toBe('ended');
  });

  it('ends 30 days after login however much it is used', () => {
    const atS = 1000 + 30 * 86_400;
    expect(decideSession({ createdS: 1000, lastUsedS: atS - 2 }, atS - 1)).toBe('live');
    expect(decideSession({ createdS: 1000, lastUsedS: atS }, atS)).toBe('ended');
  });

  it('of a program ends at its own time, whatever its use', () => {
    const expiresS = 1000 + 90 * 86_400;
    expect(decideSession({ ...times, expiresS }, expiresS - 1)).toBe('touch');
    expect(decideSession({ createdS: 1000, lastUsedS: expiresS - 1, expiresS }, expiresS)).toBe('ended');
  });

  it('ends with its account', () => {
    expect(decideSession({ ...times, accountExpiresS: 1001 }, 1000)).toBe('live');
    expect(decideSession({ ...times, accountExpiresS: 1001 }, 1001)).toBe('ended');
    expect(decideSession({ ...times, accountExpiresS: null, expiresS: null }, 1001)).toBe('live');
  });

  it('survives a clock that steps back', () => {
    expect(decideSession(times, 0)).toBe('live');
  });
});

describe('a role', () => {
  it('covers itself and the weaker ones', () => {
    for (const [index, role] of roles.entries()) {
      for (const [other, needed] of roles.entries()) expect(roleCovers(role, needed)).toBe(index >= other);
    }
  });
});
