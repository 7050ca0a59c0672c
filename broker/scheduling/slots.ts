// Slots of a limited resource, with a share for each token, user and account. A slot is acquired together with the signal that
// frees it, so no path leaks it. Errors, clients that disconnect and answers that are never read all free it.

/** Owner of a slot: a session or API token, its user, and the account. A share link counts as a user. */
export interface Owner {
  readonly accountID: string;
  readonly userID: string;
  readonly tokenHash: string;
}

export interface SlotLimits {
  readonly token: number;
  readonly user: number;
  readonly account: number;
  readonly process: number;
}

export type SlotLevel = keyof SlotLimits;

/** Narrowest first. */
const levels: readonly SlotLevel[] = ['token', 'user', 'account', 'process'];

const keyAt: Readonly<Record<SlotLevel, (owner: Owner) => string>> = {
  token: ({ accountID, userID, tokenHash }) => `${accountID}/${userID}/${tokenHash}`,
  user: ({ accountID, userID }) => `${accountID}/${userID}`,
  account: ({ accountID }) => accountID,
  process: () => '',
};

/** Counts per level; a count of 0 is removed. */
export function createShares(limits: SlotLimits) {
  const counts = new Map<string, number>();
  const countAt = (level: SlotLevel, owner: Owner): number =>
    counts.get(`${level} ${keyAt[level](owner)}`) ?? 0;
  return {
    count: (): number => counts.get('process ') ?? 0,
    /** First limit that is reached; null: a slot is free. */
    full: (owner: Owner): SlotLevel | null =>
      levels.find((level) => countAt(level, owner) >= limits[level]) ?? null,
    change(owner: Owner, by: 1 | -1): void {
      for (const level of levels) {
        const key = `${level} ${keyAt[level](owner)}`;
        const count = (counts.get(key) ?? 0) + by;
        if (count > 0) counts.set(key, count);
        else counts.delete(key);
      }
    },
  };
}

export interface Slots {
  count(): number;
  /**
   * Takes a slot until the signal aborts; takes none if it has already aborted.
   * @returns null, or the limit that is reached: nothing is then taken.
   */
  take(owner: Owner, until: AbortSignal): SlotLevel | null;
}

export function createSlots(limits: SlotLimits): Slots {
  const shares = createShares(limits);
  return {
    count: shares.count,
    take(owner, until) {
      if (until.aborted) return null;
      const full = shares.full(owner);
      if (full !== null) return full;
      shares.change(owner, 1);
      until.addEventListener('abort', () => shares.change(owner, -1), { once: true });
      return null;
    },
  };
}

/** Owner of a limit, for an error text. */
export const ownerText: Readonly<Record<SlotLevel, string>> = {
  token: 'this token',
  user: 'this user',
  account: 'this account',
  process: 'the service',
};
