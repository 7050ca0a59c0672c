// Limits of open live streams: per user, account and process. Pure counters.

export const liveSlotLimits = { user: 5, account: 100, process: 2000 } as const;

type SlotKind = keyof typeof liveSlotLimits;

type Taken =
  | { readonly isFree: true /** Frees the slot; more than once is no fault. */; release(): void }
  | { readonly isFree: false; readonly full: SlotKind; readonly most: number };

export interface LiveSlots {
  take(owner: { readonly accountID: string; readonly userID: string }): Taken;
}

/** No slot is taken. */
export function createLiveSlots(limits: Readonly<Record<SlotKind, number>> = liveSlotLimits): LiveSlots {
  const counts = new Map<string, number>();
  const change = (key: string, by: number): void => {
    const count = (counts.get(key) ?? 0) + by;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  };
  return {
    take({ accountID, userID }) {
      // An id has no slash, so no account can look like another's user.
      const keys = { user: `${accountID}/${userID}`, account: accountID, process: '' } as const;
      for (const kind of ['user', 'account', 'process'] as const) {
        if ((counts.get(keys[kind]) ?? 0) >= limits[kind])
          return { isFree: false, full: kind, most: limits[kind] };
      }
      let isReleased = false;
      for (const key of Object.values(keys)) change(key, 1);
      return {
        isFree: true,
        release() {
          if (isReleased) return;
          isReleased = true;
          for (const key of Object.values(keys)) change(key, -1);
        },
      };
    },
  };
}
