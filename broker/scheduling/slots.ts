// Slots of a limited resource. A slot is taken together with the signal that frees it, so no path keeps it: not an error, not a client that
// disconnects, not an answer that is never read.

export interface SlotLimits {
  readonly account: number;
  readonly process: number;
}

export interface Slots {
  /** Slots that are taken. */
  count(): number;
  /**
   * Takes a slot until the signal aborts; nothing is taken when it has aborted already.
   * @returns null, or the limit that is reached: then nothing is taken.
   */
  take(accountID: string, until: AbortSignal): keyof SlotLimits | null;
}

/** All slots are free. */
export function createSlots(limits: SlotLimits): Slots {
  const byAccount = new Map<string, number>();
  let total = 0;
  const change = (accountID: string, by: 1 | -1): void => {
    const count = (byAccount.get(accountID) ?? 0) + by;
    if (count > 0) byAccount.set(accountID, count);
    else byAccount.delete(accountID);
    total += by;
  };
  return {
    count: () => total,
    take(accountID, until) {
      if (until.aborted) return null;
      if ((byAccount.get(accountID) ?? 0) >= limits.account) return 'account';
      if (total >= limits.process) return 'process';
      change(accountID, 1);
      until.addEventListener('abort', () => change(accountID, -1), { once: true });
      return null;
    },
  };
}
