// How often the service may be asked: a token so often a second, and a source address that sends wrong tokens before any
// of them is looked up. It must never hold up who is known to be right because of somebody else at the same address.
import { AppError } from '../../src/core/errors.ts';
import type { Clock, Log } from '../../src/ports.ts';
import { createRates, type RateLimit, type RateState } from '../core/rate.ts';
import { tokenOf } from '../core/session.ts';
import { networkOf } from '../core/source-network.ts';
import { hashToken } from '../store/sessions.ts';

export interface RequestRates {
  /** Requests of one token. */
  readonly token: RateLimit;
  /** Wrong tokens of one source address, or IPv6 network. 256 random bits cannot be guessed: this spares the store the look-ups. */
  readonly failures: RateLimit;
}

export const defaultRequestRates: RequestRates = {
  token: { burst: 60, perS: 30 },
  failures: { burst: 60, perS: 5 },
};

export interface Admission {
  /** Before the token is looked up. @throws AppError `throttled`. */
  checkSource(source: string, authorization: string | undefined): void;
  /** The token was wrong. */
  noteFailure(source: string): void;
  /** Counts a request of a token that is right. @throws AppError `throttled`. */
  admit(tokenHash: string): void;
  /** The headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) of a token. */
  headersOf(tokenHash: string): Readonly<Record<string, string>>;
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** @param rates most requests of each kind; bounded in memory whatever comes. */
export function createAdmission(
  rates: RequestRates,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Admission {
  const tokens = createRates(rates.token);
  const failures = createRates(rates.failures);
  const policy = `"token";q=${rates.token.burst};w=${seconds((rates.token.burst / rates.token.perS) * 1000)}`;
  const refuse = (what: string, state: RateState): never => {
    throw new AppError('throttled', what, { retryAfterS: seconds(state.waitMs) });
  };
  return {
    checkSource(source, authorization) {
      const nowMs = clock.monoMs();
      const network = networkOf(source);
      if (!failures.isSpent(network, nowMs)) return;
      const token = tokenOf(authorization);
      if (token !== null && tokens.knows(hashToken(token))) return;
      refuse('too many wrong tokens came from this address', failures.stateOf(network, nowMs));
    },
    noteFailure(source) {
      const nowMs = clock.monoMs();
      const network = networkOf(source);
      failures.take(network, nowMs);
      if (failures.isSpent(network, nowMs)) log.warn('tokens-throttled', { source });
    },
    admit(tokenHash) {
      const nowMs = clock.monoMs();
      if (tokens.take(tokenHash, nowMs)) return;
      refuse(
        `more than ${rates.token.perS} requests a second with this token`,
        tokens.stateOf(tokenHash, nowMs),
      );
    },
    headersOf(tokenHash) {
      const { left, fullMs } = tokens.stateOf(tokenHash, clock.monoMs());
      return {
        'ratelimit-policy': policy,
        ratelimit: `"token";r=${left};t=${Math.ceil(fullMs / 1000)}`,
      };
    },
  };
}
