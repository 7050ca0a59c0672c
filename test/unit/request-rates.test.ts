// How often the service may be asked: what a bucket knows of itself, and who is admitted.
import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../broker/api/base/admission.ts';
import { formatToken } from '../../broker/core/accounts/session.ts';
import { createRates } from '../../broker/core/scheduling/rate.ts';
import { hashToken } from '../../broker/store/accounts/sessions.ts';
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
  const token = formatToken({ accountID: 'acme', userID: 'guest' }, new Uint8Array(32));

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

  it('stops an address after wrong tokens, but not a token that was right', () => {
    const { admission } = start();
    admission.recordFailure('10.0.0.1');
    admission.recordFailure('10.0.0.1');
    expect(() => admission.checkSource('10.0.0.1', token)).toThrow(
      expect.objectContaining({ code: 'throttled' }),
    );
    expect(() => admission.checkSource('10.0.0.2', token)).not.toThrow();
    admission.admit(hashToken(token));
    expect(() => admission.checkSource('10.0.0.1', `Bearer ${token}`)).not.toThrow();
  });
});
