// Throttles password guessing, as a pure bounded table of counters. Failures count for the user at one address, the user
// anywhere, and the address. It must never lock out a user because of other clients' failures: at an address with an
// earlier login only failures from there count. For the user anywhere an address counts once: one address that goes on guessing does not
// lock the user out at a new address.
import { networkOf } from './source-network.ts';

export interface LoginAttempt {
  readonly accountID: string;
  readonly userID: string;
  /** Source address as text; all of one IPv6 network are one. */
  readonly address: string;
  /**
   * Of a logged-in user that proves its password again: only the failures of this session count, and those of all sessions
   * of the user, so that further sessions give no further guesses.
   */
  readonly session?: string;
}

interface Step {
  /** Failures that cost nothing. */
  readonly free: number;
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

/** The delay doubles with every failure beyond `free`. */
export const throttleSteps = {
  // No longer than for the user anywhere: failures may be those of a neighbour behind the same address.
  pair: { free: 5, firstDelayMs: 2000, longestDelayMs: 30_000 },
  user: { free: 20, firstDelayMs: 1000, longestDelayMs: 30_000 },
  address: { free: 30, firstDelayMs: 1000, longestDelayMs: 60_000 },
} as const satisfies Record<string, Step>;

type StepName = keyof typeof throttleSteps;

export const throttleLimits = {
  /** Counters kept of each kind; the one longest unchanged goes first. */
  entries: 10_000,
  /** A counter without a new failure for this long is forgotten. */
  forgetMs: 60 * 60_000,
} as const;

interface Counter {
  readonly failures: number;
  readonly lastMs: number;
  readonly untilMs: number;
}

type ThrottleDecision =
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly retryAfterS: number;
      /** False: the table knows of no login of the user from this address; see `remember`. */
      readonly isKnown: boolean;
    };

export interface LoginThrottle {
  /** Decides, and counts an allowed attempt as failed until it is reported good: parallel guesses gain nothing. */
  begin(attempt: LoginAttempt, nowMs: number): ThrottleDecision;
  /** The password was right: its counters are cleared and the address is known for this user from now on. */
  succeed(attempt: LoginAttempt): void;
  /** The user has logged in from this address before: from now on only its failures there throttle it. */
  remember(attempt: LoginAttempt): void;
  /** The attempt could not be judged (the service failed): it does not count. */
  release(attempt: LoginAttempt): void;
  /** Counters kept, for the test of their bound. */
  size(): number;
}

function counterAfter(step: Step, known: Counter | undefined, nowMs: number): Counter {
  const failures = (known?.failures ?? 0) + 1;
  const beyond = failures - step.free;
  // 2 ** 30 times any first delay is past the longest one: no overflow from a long attack.
  const delayMs =
    beyond < 0 ? 0 : Math.min(step.longestDelayMs, step.firstDelayMs * 2 ** Math.min(30, beyond));
  return { failures, lastMs: nowMs, untilMs: nowMs + delayMs };
}

/** Puts last what was changed last and drops the first when the table is full. */
function put<T>(table: Map<string, T>, entry: { readonly key: string; readonly value: T }): void {
  table.delete(entry.key);
  table.set(entry.key, entry.value);
  if (table.size <= throttleLimits.entries) return;
  const oldest = table.keys().next().value;
  if (oldest !== undefined) table.delete(oldest);
}

function keysOf(attempt: LoginAttempt): Readonly<Record<StepName, string>> {
  const user = `${attempt.accountID}/${attempt.userID}`;
  const address = networkOf(attempt.address);
  const { session } = attempt;
  // A session is a hash in hexadecimal: no address begins like this.
  return session === undefined
    ? { pair: `${user}@${address}`, user, address }
    : { pair: `${user}#${session}`, user: `${user}#`, address };
}

/** An empty table. Times are monotonic milliseconds, given by the caller. */
export function createLoginThrottle(): LoginThrottle {
  const tables: Readonly<Record<StepName, Map<string, Counter>>> = {
    pair: new Map(),
    user: new Map(),
    address: new Map(),
  };
  const knownPairs = new Map<string, true>();
  const fresh = (
    name: StepName,
    at: { readonly key: string; readonly nowMs: number },
  ): Counter | undefined => {
    const counter = tables[name].get(at.key);
    return counter !== undefined && at.nowMs - counter.lastMs < throttleLimits.forgetMs ? counter : undefined;
  };
  const countedBy = ({ session }: LoginAttempt, pairKey: string): readonly StepName[] => {
    if (session !== undefined) return ['pair', 'user'];
    return knownPairs.has(pairKey) ? ['pair'] : ['pair', 'user', 'address'];
  };
  /** The counters that the attempt raised: the user's only when it was the first from there. */
  const namesToRelease = (attempt: LoginAttempt, pairKey: string): readonly StepName[] => {
    const isFirst = attempt.session !== undefined || (tables.pair.get(pairKey)?.failures ?? 0) <= 1;
    return countedBy(attempt, pairKey).filter((name) => name !== 'user' || isFirst);
  };
  return {
    begin(attempt, nowMs) {
      const keys = keysOf(attempt);
      const names = countedBy(attempt, keys.pair);
      const waits = names.map((name) => (fresh(name, { key: keys[name], nowMs })?.untilMs ?? 0) - nowMs);
      const waitMs = Math.max(...waits);
      if (waitMs > 0)
        return { isAllowed: false, retryAfterS: Math.ceil(waitMs / 1000), isKnown: names.length < 3 };
      // Of a session all failures count for the user.
      const isFirst = fresh('pair', { key: keys.pair, nowMs }) === undefined || attempt.session !== undefined;
      for (const name of names) {
        if (name === 'user' && !isFirst) continue;
        const value = counterAfter(throttleSteps[name], fresh(name, { key: keys[name], nowMs }), nowMs);
        put(tables[name], { key: keys[name], value });
      }
      return { isAllowed: true };
    },
    succeed(attempt) {
      const keys = keysOf(attempt);
      const names = namesToRelease(attempt, keys.pair);
      tables.pair.delete(keys.pair);
      // One right password clears neither what others guessed at this user nor what this address guessed at others.
      for (const name of names) takeBack(tables[name], keys[name]);
      if (attempt.session === undefined) put(knownPairs, { key: keys.pair, value: true });
    },
    remember: (attempt) => put(knownPairs, { key: keysOf(attempt).pair, value: true }),
    release(attempt) {
      const keys = keysOf(attempt);
      for (const name of namesToRelease(attempt, keys.pair)) takeBack(tables[name], keys[name]);
    },
    size: () => tables.pair.size + tables.user.size + tables.address.size + knownPairs.size,
  };
}

function takeBack(table: Map<string, Counter>, key: string): void {
  const counter = table.get(key);
  if (counter === undefined) return;
  if (counter.failures <= 1) table.delete(key);
  else table.set(key, { ...counter, failures: counter.failures - 1, untilMs: counter.lastMs });
}
