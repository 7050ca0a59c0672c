// A queue that serves accounts in turn, within an account its users, and within a user its tokens. A caller with many requests only waits behind
// itself and delays no other.
import type { Owner } from './slots.ts';

/** A level of the queue: names in the order of their turn, and the waiting work of each. */
class Turns<T> {
  readonly #waiting = new Map<string, T>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  at(name: string, make: () => T): T {
    const known = this.#waiting.get(name);
    if (known !== undefined) return known;
    const made = make();
    this.#waiting.set(name, made);
    return made;
  }

  /** First result of `take` that is not null, in the order of turns. The served name moves to the end, or is removed when nothing waits under it. */
  serve<R>(take: (one: T) => R | null, isEmpty: (one: T) => boolean): R | null {
    for (const [name, one] of this.#waiting) {
      const served = take(one);
      if (served === null) continue;
      this.#waiting.delete(name);
      if (!isEmpty(one)) this.#waiting.set(name, one);
      return served;
    }
    return null;
  }

  forget(name: string, isEmpty: (one: T) => boolean): void {
    const one = this.#waiting.get(name);
    if (one !== undefined && isEmpty(one)) this.#waiting.delete(name);
  }
}

interface Waiting {
  readonly owner: Owner;
  readonly enter: () => void;
}

type OfToken = Set<Waiting>;
type OfUser = Turns<OfToken>;
type OfAccount = Turns<OfUser>;

export interface FairQueue {
  /** Number of waiting entries of this user. */
  countOf(owner: Owner): number;
  /** @returns function that removes the entry. */
  add(owner: Owner, enter: () => void): () => void;
  /** Removes the next entry with an admissible owner and calls its `enter`; false: none. */
  next(mayEnter: (owner: Owner) => boolean): boolean;
}

export function createFairQueue(): FairQueue {
  const accounts = new Turns<OfAccount>();
  const counts = new Map<string, number>();
  const userKey = ({ accountID, userID }: Owner): string => `${accountID}/${userID}`;
  const count = (owner: Owner, by: 1 | -1): void => {
    const left = (counts.get(userKey(owner)) ?? 0) + by;
    if (left > 0) counts.set(userKey(owner), left);
    else counts.delete(userKey(owner));
  };
  const hasNone = (level: { readonly isEmpty: boolean }): boolean => level.isEmpty;
  const isDone = (set: OfToken): boolean => set.size === 0;
  return {
    countOf: (owner) => counts.get(userKey(owner)) ?? 0,
    add(owner, enter) {
      const { accountID, userID, tokenHash } = owner;
      const users = accounts.at(accountID, () => new Turns());
      const tokens = users.at(userID, () => new Turns());
      const queue = tokens.at(tokenHash, () => new Set());
      const one = { owner, enter };
      queue.add(one);
      count(owner, 1);
      return () => {
        if (!queue.delete(one)) return;
        count(owner, -1);
        tokens.forget(tokenHash, isDone);
        users.forget(userID, hasNone);
        accounts.forget(accountID, hasNone);
      };
    },
    next(mayEnter) {
      const takeOne = (queue: OfToken): Waiting | null => {
        const [first] = queue;
        if (first === undefined || !mayEnter(first.owner)) return null;
        queue.delete(first);
        return first;
      };
      const ofUser = (tokens: OfUser): Waiting | null => tokens.serve(takeOne, isDone);
      const ofAccount = (users: OfAccount): Waiting | null => users.serve(ofUser, hasNone);
      const served = accounts.serve(ofAccount, hasNone);
      if (served === null) return false;
      count(served.owner, -1);
      served.enter();
      return true;
    },
  };
}
