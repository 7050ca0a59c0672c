// How much a device and an account may send: token buckets. Pure; time is a parameter. A payload is charged once it is known, so none is
// split or refused for its size: a bucket falls below zero by one payload, and the next one waits until the bucket is above zero again.

export interface EventLimits {
  /** Events a second that one device may go on to send; 0: no limit. An event counts once for each KiB of its payload that was begun. */
  readonly deviceEventsPerS: number;
  /** Events that one device may send beyond that, as after weeks without network. */
  readonly deviceBurst: number;
  /** Events a second of all devices of an account beyond the share of each of them; 0: no limit. */
  readonly accountEventsPerS: number;
}

/** No vehicle meets them: 20 a second for ever, and a week of 8 hours a day at one event a second at once. */
export const defaultEventLimits: EventLimits = {
  deviceEventsPerS: 20,
  deviceBurst: 200_000,
  accountEventsPerS: 2000,
};

/** How fast a device may use up its burst: a backlog must not take the service from the others. */
const pace = { perS: 1000, burst: 1000 } as const;
/** What each device may send whatever the others of its account do. An agent waits 30 s for the acknowledgement of 50 events. */
const share = { perS: 2, burst: 100 } as const;
/** Payloads that may overtake what their own device sent before them. */
const reserve = { perS: 0.1, burst: 20 } as const;
/** The most that a payload counts: 500 events, or 64 KiB. */
export const payloadMost = 500;

/** What a payload counts. @param events 0: unknown, or none. */
export function costOf(bytes: number, events: number): number {
  return Math.max(1, events, Math.ceil(bytes / 1024));
}

/** Refills with time; holds at most its burst, and owes at most one payload. */
export class Bucket {
  #left: number;
  #atMs: number;

  constructor(burst: number, nowMs: number) {
    this.#left = burst;
    this.#atMs = nowMs;
  }

  /** What is left. */
  at(nowMs: number, { perS, burst }: { readonly perS: number; readonly burst: number }): number {
    const back = (Math.max(0, nowMs - this.#atMs) / 1000) * perS;
    this.#left = Math.min(burst, this.#left + back);
    this.#atMs = nowMs;
    return this.#left;
  }

  take(cost: number): void {
    this.#left = Math.max(-payloadMost, this.#left - cost);
  }
}

/** Why a device has to wait: for its own limit, for the pace of a backlog, or for the limit of its account. */
export type Hold = 'device' | 'pace' | 'account';

/** The account's part: what its devices have sent beyond their shares. */
export class AccountBudget {
  readonly #bucket: Bucket;
  /** Set by the operator for this account; null: the limit of the service. */
  ownPerS: number | null = null;

  constructor({ accountEventsPerS }: EventLimits, nowMs: number) {
    this.#bucket = new Bucket(accountEventsPerS, nowMs);
  }

  isSpent({ accountEventsPerS }: EventLimits, nowMs: number): boolean {
    const perS = this.ownPerS ?? accountEventsPerS;
    return perS > 0 && this.#bucket.at(nowMs, { perS, burst: perS }) <= 0;
  }

  take(cost: number): void {
    this.#bucket.take(cost);
  }
}

/** One device's part. A class for its memory: there is one for every vehicle that sends. */
export class DeviceBudget {
  readonly account: AccountBudget;
  readonly #long: Bucket;
  readonly #pace: Bucket;
  readonly #share: Bucket;
  #reserve: Bucket | null = null;
  /** Counted since `sinceMs`, for the rate that is logged. */
  #sent = 0;
  #sinceMs: number;

  constructor(limits: EventLimits, account: AccountBudget, nowMs: number) {
    this.account = account;
    this.#long = new Bucket(limits.deviceBurst, nowMs);
    this.#pace = new Bucket(pace.burst, nowMs);
    this.#share = new Bucket(share.burst, nowMs);
    this.#sinceMs = nowMs;
  }

  /** Why it has to wait; null: it may send. */
  holdAt(limits: EventLimits, nowMs: number): Hold | null {
    const { deviceEventsPerS: perS, deviceBurst: burst } = limits;
    if (perS > 0) {
      if (this.#long.at(nowMs, { perS, burst }) <= 0) return 'device';
      if (this.#pace.at(nowMs, pace) <= 0) return 'pace';
    }
    if (this.#share.at(nowMs, share) > 0) return null;
    return this.account.isSpent(limits, nowMs) ? 'account' : null;
  }

  /** True when nothing of it is used, so that it need not be kept. */
  isFull(limits: EventLimits, nowMs: number): boolean {
    const { deviceEventsPerS: perS, deviceBurst: burst } = limits;
    return (
      this.#share.at(nowMs, share) >= share.burst &&
      (perS === 0 || this.#long.at(nowMs, { perS, burst }) >= burst)
    );
  }

  charge(cost: number, nowMs: number): void {
    const isOfShare = this.#share.at(nowMs, share) > 0;
    this.#long.take(cost);
    this.#pace.take(cost);
    if (isOfShare) this.#share.take(cost);
    else this.account.take(cost);
    if (nowMs - this.#sinceMs >= 60_000) {
      this.#sent = 0;
      this.#sinceMs = nowMs;
    }
    this.#sent += cost;
  }

  /** Events a second of late. */
  rateAt(nowMs: number): number {
    return Math.round(this.#sent / Math.max(1, (nowMs - this.#sinceMs) / 1000));
  }

  /** Takes one of the reserve; false when it is spent. */
  mayOvertake(nowMs: number): boolean {
    this.#reserve ??= new Bucket(reserve.burst, nowMs);
    if (this.#reserve.at(nowMs, reserve) < 1) return false;
    this.#reserve.take(1);
    return true;
  }
}
