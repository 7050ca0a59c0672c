// What a certificate proves: the name of one device to the letter, and nothing once it was revoked.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeSerial, revocationFault } from '../../broker/core/accounts/client-certificate.ts';
import { judgeConnect } from '../../broker/core/mqtt/mqtt-access.ts';

const connect = {
  clientId: 'acme/truck-1',
  username: 'acme/truck-1',
  hasPassword: true,
  keepaliveS: 60,
  will: null,
} as const;
const own = { commonName: 'acme/truck-1' };

describe('a CONNECT with a certificate', () => {
  it('needs the name of the certificate as user name and as client id', () => {
    expect(judgeConnect({ ...connect, certificate: own }).ok).toBe(true);
    for (const commonName of [null, '', 'acme/truck-2', 'ACME/truck-1', 'acme/truck-1 ', 'acme']) {
      expect(judgeConnect({ ...connect, certificate: { commonName } })).toMatchObject({ ok: false, code: 5 });
    }
    const other = { ...connect, certificate: own, clientId: 'acme/truck-2' };
    expect(judgeConnect(other)).toMatchObject({ ok: false, code: 2 });
  });

  it('never gets in under any other name, whatever the name', () => {
    const suffices = { certificateSuffices: true, hasPassword: false };
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, user) => {
        fc.pre(name !== user);
        const facts = { ...connect, ...suffices, clientId: user, username: user };
        expect(judgeConnect({ ...facts, certificate: { commonName: name } }).ok).toBe(false);
      }),
    );
  });

  it('may leave out the password where the listener allows it, and only with a certificate', () => {
    const bare = { ...connect, hasPassword: false };
    expect(judgeConnect({ ...bare, certificate: own, certificateSuffices: true }).ok).toBe(true);
    expect(judgeConnect({ ...bare, certificate: own })).toMatchObject({ ok: false, code: 4 });
    expect(judgeConnect({ ...bare, certificateSuffices: true })).toMatchObject({ ok: false, code: 4 });
  });
});

describe('a serial number', () => {
  it('is the same number in any way of writing it', () => {
    for (const text of ['0A1B', '0a:1b', 'a1b', '00000A1B']) expect(normalizeSerial(text)).toBe('a1b');
    expect(normalizeSerial('00')).toBe('0');
  });
});

describe('a revocation', () => {
  const cutMs = 1_000_000;

  it('ends the certificate itself, known or not', () => {
    for (const isKnown of [true, false]) {
      expect(revocationFault({ fromMs: 2 * cutMs }, { isKnown, isRevoked: true, cutMs: 0 })).toMatch(
        /revoked/,
      );
    }
  });

  it('of all of a device ends what the broker did not issue and was made before', () => {
    const unknown = { isKnown: false, isRevoked: false, cutMs };
    expect(revocationFault({ fromMs: cutMs - 1 }, unknown)).toMatch(/older than the last revocation/);
    expect(revocationFault({ fromMs: cutMs }, unknown)).toBeNull();
    // A date that cannot be read proves nothing.
    expect(revocationFault({ fromMs: Number.NaN }, unknown)).toMatch(/older/);
  });

  it('leaves alone what the broker issued since', () => {
    expect(revocationFault({ fromMs: 0 }, { isKnown: true, isRevoked: false, cutMs })).toBeNull();
  });
});
