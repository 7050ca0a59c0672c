// Guessing passwords is slowed down, and no client can lock out another user by it.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createLoginThrottle,
  throttleLimits,
  throttleSteps,
} from '../../broker/core/accounts/login-throttle.ts';

const ann = { accountID: 'acme', userID: 'ann', address: '10.0.0.1' };

/** Fails as often as it is let. */
function fail(
  throttle: ReturnType<typeof createLoginThrottle>,
  attempt: typeof ann,
  span: { count: number; nowMs: number },
) {
  for (let at = 0; at < span.count; at += 1) throttle.begin(attempt, span.nowMs);
}

describe('one user at one address', () => {
  it('has a few free failures, then waits in doubling steps', () => {
    const throttle = createLoginThrottle();
    const { free, firstDelayMs } = throttleSteps.pair;
    fail(throttle, ann, { count: free, nowMs: 0 });
    expect(throttle.begin(ann, 0)).toEqual({
      isAllowed: false,
      retryAfterS: firstDelayMs / 1000,
      isKnown: false,
    });
    expect(throttle.begin(ann, firstDelayMs)).toEqual({ isAllowed: true });
    expect(throttle.begin(ann, firstDelayMs)).toEqual({
      isAllowed: false,
      retryAfterS: (2 * firstDelayMs) / 1000,
      isKnown: false,
    });
  });

  it('never waits longer than the longest step, however long the attack', () => {
    const throttle = createLoginThrottle();
    const longestMs = Math.max(...Object.values(throttleSteps).map(({ longestDelayMs }) => longestDelayMs));
    let nowMs = 0;
    for (let at = 0; at < 200; at += 1) {
      const decision = throttle.begin(ann, nowMs);
      if (decision.isAllowed) continue;
      expect(decision.retryAfterS * 1000).toBeLessThanOrEqual(longestMs);
      nowMs += decision.retryAfterS * 1000;
    }
  });

  it('counts guesses made in parallel, before the first is judged', () => {
    const throttle = createLoginThrottle();
    const allowed = Array.from({ length: 1000 }, () => throttle.begin(ann, 0)).filter((one) => one.isAllowed);
    expect(allowed).toHaveLength(throttleSteps.pair.free);
  });

  it('starts afresh after the right password', () => {
    const throttle = createLoginThrottle();
    fail(throttle, ann, { count: throttleSteps.pair.free - 1, nowMs: 0 });
    throttle.begin(ann, 0);
    throttle.succeed(ann);
    for (let at = 0; at < throttleSteps.pair.free; at += 1)
      expect(throttle.begin(ann, 0).isAllowed).toBe(true);
  });

  it('is forgotten after an hour without failure', () => {
    const throttle = createLoginThrottle();
    fail(throttle, ann, { count: throttleSteps.pair.free, nowMs: 0 });
    expect(throttle.begin(ann, throttleLimits.forgetMs).isAllowed).toBe(true);
    expect(throttle.begin(ann, throttleLimits.forgetMs).isAllowed).toBe(true);
  });

  it('is not charged for what the service could not judge', () => {
    const throttle = createLoginThrottle();
    for (let at = 0; at < 100; at += 1) {
      expect(throttle.begin(ann, 0).isAllowed).toBe(true);
      throttle.release(ann);
    }
  });
});

describe('other users', () => {
  it('log in where they have before, whatever others guess from anywhere', () => {
    const throttle = createLoginThrottle();
    throttle.begin(ann, 0);
    throttle.succeed(ann);
    for (let at = 0; at < 500; at += 1) {
      throttle.begin({ ...ann, address: `10.1.0.${at}` }, 0);
      throttle.begin({ ...ann, userID: `user-${at}` }, 0);
    }
    expect(throttle.begin(ann, 0)).toEqual({ isAllowed: true });
  });

  it('are not slowed by a few failures of a colleague at the same address', () => {
    const throttle = createLoginThrottle();
    fail(throttle, ann, { count: 100, nowMs: 0 });
    expect(throttle.begin({ ...ann, userID: 'bob' }, 0)).toEqual({ isAllowed: true });
  });
});

describe('an attack', () => {
  it('on many users from one address is slowed', () => {
    const throttle = createLoginThrottle();
    const decisions = Array.from({ length: 200 }, (_, at) => throttle.begin({ ...ann, userID: `u${at}` }, 0));
    expect(decisions.filter((one) => one.isAllowed)).toHaveLength(throttleSteps.address.free);
  });

  it('on one user from many addresses is slowed', () => {
    const throttle = createLoginThrottle();
    const decisions = Array.from({ length: 200 }, (_, at) =>
      throttle.begin({ ...ann, address: `a${at}` }, 0),
    );
    expect(decisions.filter((one) => one.isAllowed)).toHaveLength(throttleSteps.user.free);
  });

  it('from one address, however long, keeps nobody out who comes from a new one', () => {
    const throttle = createLoginThrottle();
    let tried = 0;
    for (let nowMs = 0; nowMs < 12 * 3_600_000; nowMs += 30_000) {
      if (throttle.begin(ann, nowMs).isAllowed) tried += 1;
      if (nowMs % 600_000 !== 0) continue;
      const elsewhere = { ...ann, address: `10.7.0.${nowMs / 600_000}` };
      expect(throttle.begin(elsewhere, nowMs)).toEqual({ isAllowed: true });
      throttle.succeed(elsewhere);
    }
    expect(tried).toBeGreaterThan(500);
  });

  it('of any kind does not fill the memory', () => {
    const throttle = createLoginThrottle();
    for (let at = 0; at < 3 * throttleLimits.entries; at += 1) {
      const attempt = { accountID: 'acme', userID: `u${at}`, address: `a${at}` };
      throttle.begin(attempt, at);
      if (at % 2 === 0) throttle.succeed(attempt);
    }
    expect(throttle.size()).toBeLessThanOrEqual(4 * throttleLimits.entries);
  });

  it('gets a wait between a second and the longest step, never another answer', () => {
    const step = fc.record({
      user: fc.nat(3),
      address: fc.nat(3),
      laterMs: fc.nat(5000),
      isRight: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const throttle = createLoginThrottle();
        let nowMs = 0;
        for (const { user, address, laterMs, isRight } of steps) {
          nowMs += laterMs;
          const attempt = { accountID: 'acme', userID: `u${user}`, address: `a${address}` };
          const decision = throttle.begin(attempt, nowMs);
          if (decision.isAllowed && isRight) throttle.succeed(attempt);
          if (decision.isAllowed) continue;
          expect(decision.retryAfterS).toBeGreaterThanOrEqual(1);
          expect(decision.retryAfterS * 1000).toBeLessThanOrEqual(throttleSteps.pair.longestDelayMs);
        }
      }),
    );
  });
});
