// Rate limits of requests to the HTTP service, and their defaults.
import type { RateLimit } from './rate.ts';

export interface RequestRates {
  /** Requests of one token. */
  readonly token: RateLimit;
  /** Wrong tokens of one source address, or IPv6 network. 256 random bits cannot be guessed: this bounds the look-ups at a time. */
  readonly failures: RateLimit;
}

export const defaultRequestRates: RequestRates = {
  token: { burst: 60, perS: 30 },
  failures: { burst: 60, perS: 5 },
};
