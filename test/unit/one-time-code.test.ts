// One-time codes by the test vectors of their standards, and the rules of what counts.
import { describe, expect, it } from 'vitest';
import {
  base32,
  codeOfStep,
  groupedCode,
  nextTryS,
  otpauthURL,
  stepOfCode,
  tryRules,
  typedCode,
} from '../../broker/features/totp/one-time-code.ts';

const secret = Buffer.from('12345678901234567890');

describe('a one-time code', () => {
  // RFC 6238 appendix B, SHA-1: its last six digits of eight.
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %d s is that of RFC 6238: %s', (atS, code) => {
    expect(codeOfStep(secret, Math.floor(atS / 30))).toBe(code);
  });

  // RFC 4226 appendix D.
  it('of each counter is that of RFC 4226', () => {
    const codes = Array.from({ length: 10 }, (_, counter) => codeOfStep(secret, counter));
    expect(codes.join(' ')).toBe('755224 287082 359152 969429 338314 254676 287922 162583 399871 520489');
  });

  it('counts one step before and after its own, and never at or before the last one that was accepted', () => {
    const nowS = 3000;
    const at = (step: number, lastStep = -1) =>
      stepOfCode(codeOfStep(secret, 100 + step), { secret, nowS, lastStep });
    expect([-2, -1, 0, 1, 2].map((step) => at(step))).toEqual([null, 99, 100, 101, null]);
    expect([-1, 0, 1].map((step) => at(step, 100))).toEqual([null, null, 101]);
    expect(at(1, 101)).toBeNull();
  });

  it('is read with spaces, and a recovery code with hyphens and in small letters; anything else is neither', () => {
    expect(typedCode(' 287 082 ')).toEqual({ kind: 'code', code: '287082' });
    const recovery = base32(Buffer.from('0123456789'));
    expect(typedCode(groupedCode(recovery).toLowerCase())).toEqual({ kind: 'recovery', code: recovery });
    for (const text of ['', '28708', '2870822', 'abcdef', '0000-0000-0000-0000'])
      expect(typedCode(text)).toBeNull();
  });

  it('that is wrong makes the next one wait from a minute to an hour, and no longer', () => {
    expect(Array.from({ length: tryRules.free - 1 }, (_, at) => nextTryS(at + 1, 100))).toEqual([0, 0, 0, 0]);
    const waits = Array.from({ length: 9 }, (_, at) => nextTryS(tryRules.free + at, 0));
    expect(waits).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
    expect(nextTryS(100_000, 0)).toBe(3600);
  });
});

describe('the secret of an authenticator app', () => {
  it('is base32 of RFC 4648, and stands in an otpauth address without anything but its issuer and user', () => {
    expect(base32(secret)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    const url = new URL(otpauthURL(base32(secret), { accountID: 'acme', userID: 'dispatch' }));
    expect([url.protocol, url.host, decodeURIComponent(url.pathname)]).toEqual([
      'otpauth:',
      'totp',
      '/Fleetward:dispatch (acme)',
    ]);
    expect([...url.searchParams.keys()]).toEqual(['secret', 'issuer']);
  });
});
