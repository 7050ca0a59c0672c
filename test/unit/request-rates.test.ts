// How often the service may be asked: what a bucket knows of itself, and who is admitted.
import { describe, expect, it } from 'vitest';
import { type Admission, createAdmission } from '../../broker/api/base/admission.ts';
import { formatToken } from '../../broker/core/accounts/session.ts';
import { createRates } from '../../broker/core/scheduling/rate.ts';
import { hashToken } from '../../broker/store/accounts/sessions.ts';
import { AppError } from '../../src/core/errors.ts';
import { createBenchClock, createBenchLog } from '../support/broker/broker-bench.ts';

describe('a bucket', () => {
  it('reports what is left, when there is one more, and when all are back', () => {
    const rates = createRates({ burst: 4, perS: 2 });
    expect(rates.stateOf('a', 0)).toEqual({ left: 4, waitMs: 0, fullMs: 0 });
    expect(rates.knows('a')).toBe(false);
    for (let at = 0; at < 4; at++) rates.take('a', 0);
    expect(rates.stateOf('a', 0)).toEqual({ left: 0, waitMs: 500, fullMs: 2000 });
    expect(rates.stateOf('a', 250)).toEqual({ left: 0, waitMs: 250, fullMs: 1750 });
    expect(rates.stateOf('a', 10_000)).toEqual({ left: 4, waitMs: 0, fullMs: 0 });
    expect(rates.knows('a')).toBe(true);
  });

  it('gives a token back after its time wherever that begins: times are fractions of ms', () => {
    const rates = createRates({ burst: 1, perS: 1 });
    for (let nowMs = 1234.567_891; nowMs < 1e9; nowMs *= 1.000_7) {
      const key = String(nowMs);
      expect(rates.take(key, nowMs)).toBe(true);
      expect(rates.take(key, nowMs + 999)).toBe(false);
      expect([nowMs, rates.take(key, nowMs + 1000)]).toEqual([nowMs, true]);
    }
  });

  it('spends no token by reporting what is left', () => {
    const rates = createRates({ burst: 1, perS: 1 });
    for (let at = 0; at < 5; at++) rates.stateOf('a', 0);
    expect(rates.take('a', 0)).toBe(true);
  });
});

describe('admission', () => {
  const start = () => {
    const clock = createBenchClock();
    const rates = { token: { burst: 2, perS: 1 }, failures: { burst: 2, perS: 1 } };
    return { clock, admission: createAdmission(rates, { clock, log: createBenchLog() }) };
  };

  it('answers when to retry', () => {
    const { clock, admission } = start();
    admission.admit('t');
    admission.admit('t');
    expect(() => admission.admit('t')).toThrow(
      expect.objectContaining({ code: 'throttled', retryAfterS: 1 }),
    );
    clock.advance(1000);
    expect(() => admission.admit('t')).not.toThrow();
  });

  const right = formatToken({ accountID: 'acme', userID: 'guest' }, new Uint8Array(32));
  const wrong = formatToken({ accountID: 'acme', userID: 'guest' }, new Uint8Array(32).fill(1));
  const find = (token: string) => async () => {
    if (token === wrong) throw new AppError('unauthorized', 'no such token');
    return 'guest';
  };
  const identify = (admission: Admission, token: string, source = '10.0.0.1') =>
    admission.identify({ source, authorization: token }, find(token));
  const throttled = expect.objectContaining({ code: 'throttled' });

  it('throttles wrong tokens of an address, but no right one, known or not', async () => {
    const { admission } = start();
    for (let at = 0; at < 2; at++)
      await expect(identify(admission, wrong)).rejects.toMatchObject({ code: 'unauthorized' });
    await expect(identify(admission, wrong)).rejects.toEqual(throttled);
    await expect(identify(admission, wrong, '10.0.0.2')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await identify(admission, right)).toBe('guest');
  });

  it('bounds the look-ups at a time of such an address, but for tokens that were right', async () => {
    const { admission } = start();
    for (let at = 0; at < 2; at++) await identify(admission, wrong).catch(() => undefined);
    const ends: (() => void)[] = [];
    const hang = () => new Promise<void>((resolve) => ends.push(resolve));
    const from = { source: '10.0.0.1', authorization: wrong };
    const open = Array.from({ length: 64 }, () => admission.identify(from, hang));
    await expect(identify(admission, right)).rejects.toEqual(throttled);
    expect(await identify(admission, right, '10.0.0.2')).toBe('guest');
    admission.admit(hashToken(right));
    expect(await identify(admission, right)).toBe('guest');
    for (const end of ends) end();
    await Promise.all(open);
    const other = formatToken({ accountID: 'acme', userID: 'guest' }, new Uint8Array(32).fill(2));
    expect(await identify(admission, other)).toBe('guest');
  });
});
