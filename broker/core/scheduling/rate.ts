// Token buckets by key, bounded in number: limits the frequency per source. Pure; time is a parameter. Beyond the limit of
// keys the oldest key is dropped and then starts afresh.

export interface RateLimit {
  /** Size of the bucket. */
  readonly burst: number;
  /** Tokens refilled per second. */
  readonly perS: number;
}

export interface RateState {
  /** Tokens left, whole ones. */
  readonly left: number;
  /** Until there is one to take, in ms; 0 when there is. */
  readonly waitMs: number;
  /** Until all of them are back, in ms. */
  readonly fullMs: number;
}

export interface Rates {
  /** Takes one token; false when there is none left. */
  take(key: string, nowMs: number): boolean;
  /** True when `take` would fail. */
  isSpent(key: string, nowMs: number): boolean;
  /** True while a bucket of this key is kept. */
  knows(key: string): boolean;
  stateOf(key: string, nowMs: number): RateState;
}

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

const keysMost = 10_000;
/** Times are fractions of ms: what came back in a second may be short of one by their rounding. */
const rounding = 1e-6;
const isWhole = (tokens: number): boolean => tokens >= 1 - rounding;

export function createRates(limit: RateLimit): Rates {
  const buckets = new Map<string, Bucket>();
  const tokensOf = (key: string, nowMs: number): number => {
    const bucket = buckets.get(key);
    if (bucket === undefined) return limit.burst;
    const back = (Math.max(0, nowMs - bucket.atMs) / 1000) * limit.perS;
    return Math.min(limit.burst, bucket.tokens + back);
  };
  const msUntil = (tokens: number): number => (Math.max(0, tokens) / limit.perS) * 1000;
  return {
    take(key, nowMs) {
      const tokens = tokensOf(key, nowMs);
      // Deleted first so that the map's order is the order of use.
      buckets.delete(key);
      if (buckets.size >= keysMost) {
        const [oldest = ''] = buckets.keys();
        buckets.delete(oldest);
      }
      const left = isWhole(tokens) ? Math.max(0, tokens - 1) : tokens;
      buckets.set(key, { tokens: left, atMs: nowMs });
      return isWhole(tokens);
    },
    isSpent: (key, nowMs) => !isWhole(tokensOf(key, nowMs)),
    knows: (key) => buckets.has(key),
    stateOf(key, nowMs) {
      const tokens = tokensOf(key, nowMs);
      return {
        left: Math.floor(tokens + rounding),
        waitMs: msUntil(1 - tokens),
        fullMs: msUntil(limit.burst - tokens),
      };
    },
  };
}
