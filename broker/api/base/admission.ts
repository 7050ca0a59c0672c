// Rate limits: requests per token, and wrong tokens per source address. A valid token must never be throttled because of other
// clients at its address. This holds for tokens new to this process too: after a login, a restart, or at another bridge.
import { AppError } from '../../../src/core/errors.ts';
import type { Clock, Log } from '../../../src/ports.ts';
import { tokenOf } from '../../core/accounts/session.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import { createRates, type RateState, type Rates } from '../../core/scheduling/rate.ts';
import type { RequestRates } from '../../core/scheduling/request-rates.ts';
import { hashToken } from '../../store/accounts/sessions.ts';

/** Where a request comes from, and its header `Authorization`. */
export interface TokenSource {
  readonly source: string;
  readonly authorization: string | undefined;
}

/** Look-ups at a time of unknown tokens from sources that sent too many wrong ones. */
const suspectsMost = 64;

/** Limits of one kind of requests. */
export interface AdmissionLane {
  /**
   * Looks a token up by `find`, and counts wrong ones of the source. After too many of them its unknown tokens share a bounded
   * number of look-ups at a time with those of other such sources.
   * @throws AppError `throttled` for a wrong token after too many, or when that number is reached; what `find` throws.
   */
  identify<T>(from: TokenSource, find: () => Promise<T>): Promise<T>;
  /** Counts a request of a token that is right. @throws AppError `throttled`. */
  admit(tokenHash: string): void;
  /** The headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers) of a token. */
  headersOf(tokenHash: string): Readonly<Record<string, string>>;
}

export interface Admission extends AdmissionLane {
  /** Commands to vehicles: other requests beyond their limit never block the restore of an engine. */
  readonly orders: AdmissionLane;
  /** Records that another server forwards. */
  readonly intake: AdmissionLane;
}

/** A token may forward so many times more records than it may ask: 600 a second by default, which 6,000 trackers send every 10 s. */
const intakeFactor = 20;

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

interface LaneOptions {
  /** Of the policy, in the headers. */
  readonly name: string;
  readonly rates: RequestRates;
  readonly tokens: Rates;
  /** True for a token that was right, in whichever lane. */
  knows(tokenHash: string): boolean;
}

interface AdmissionPorts {
  readonly clock: Clock;
  readonly log: Log;
}

function createLane(
  { name, rates, tokens, knows }: LaneOptions,
  { clock, log }: AdmissionPorts,
): AdmissionLane {
  const failures = createRates(rates.failures);
  const policy = `"${name}";q=${rates.token.burst};w=${seconds((rates.token.burst / rates.token.perS) * 1000)}`;
  const refuse = (what: string, state: RateState): never => {
    throw new AppError('throttled', what, { retryAfterS: seconds(state.waitMs) });
  };
  let suspects = 0;
  const isUnknown = (authorization: string | undefined): boolean => {
    const token = tokenOf(authorization);
    return token !== null && !knows(hashToken(token));
  };
  const recordFailure = (source: string): void => {
    const nowMs = clock.monoMs();
    const network = networkOf(source);
    failures.take(network, nowMs);
    if (failures.isSpent(network, nowMs)) log.warn('tokens_throttled', { source });
  };
  return {
    async identify({ source, authorization }, find) {
      const network = networkOf(source);
      const isSuspect = failures.isSpent(network, clock.monoMs()) && isUnknown(authorization);
      const refuseSuspect = (): never =>
        refuse('Too many wrong tokens came from this address', failures.stateOf(network, clock.monoMs()));
      if (isSuspect && suspects >= suspectsMost) refuseSuspect();
      if (isSuspect) suspects += 1;
      try {
        return await find();
      } catch (thrown) {
        // A text without the form of a token costs nothing and is no guess.
        const isGuess =
          tokenOf(authorization) !== null && thrown instanceof AppError && thrown.code === 'unauthorized';
        if (isGuess && isSuspect) refuseSuspect();
        if (isGuess) recordFailure(source);
        throw thrown;
      } finally {
        if (isSuspect) suspects -= 1;
      }
    },
    admit(tokenHash) {
      const nowMs = clock.monoMs();
      if (tokens.take(tokenHash, nowMs)) return;
      refuse(
        `More than ${rates.token.perS} requests a second with this token`,
        tokens.stateOf(tokenHash, nowMs),
      );
    },
    headersOf(tokenHash) {
      const { left, fullMs } = tokens.stateOf(tokenHash, clock.monoMs());
      return {
        'ratelimit-policy': policy,
        ratelimit: `"${name}";r=${left};t=${Math.ceil(fullMs / 1000)}`,
      };
    },
  };
}

/** @param rates most requests of each kind and lane; bounded in memory whatever comes. */
export function createAdmission(rates: RequestRates, ports: AdmissionPorts): Admission {
  const [tokens, orderTokens] = [createRates(rates.token), createRates(rates.token)];
  const { burst, perS } = rates.token;
  const intake = { burst: burst * intakeFactor, perS: perS * intakeFactor };
  const intakeTokens = createRates(intake);
  const knows = (tokenHash: string): boolean =>
    [tokens, orderTokens, intakeTokens].some((one) => one.knows(tokenHash));
  return {
    ...createLane({ name: 'token', rates, tokens, knows }, ports),
    orders: createLane({ name: 'orders', rates, tokens: orderTokens, knows }, ports),
    intake: createLane(
      { name: 'intake', rates: { ...rates, token: intake }, tokens: intakeTokens, knows },
      ports,
    ),
  };
}
