// Runs many queries to a cluster, some at once. It stops early when the cluster does not answer, and returns what was not queried.
// There are never more than `queriesAtOnce` open.
import { messageOf } from '../../src/core/errors.ts';

export interface QueryResult<Item> {
  /** Items that failed or were not queried, in the order given. */
  readonly left: readonly Item[];
  readonly failures: number;
  /** Of the first failure; null: there was none. */
  readonly reason: string | null;
  /** True: so many failed that the rest was not queried. */
  readonly isGivenUp: boolean;
}

/** Open queries at once, and failures after which the rest is left. */
export const queriesAtOnce = 10;

/** Never rejects: items for which `ask` rejects are left. */
export async function queryEach<Item>(
  items: readonly Item[],
  ask: (item: Item) => Promise<unknown>,
): Promise<QueryResult<Item>> {
  const done = new Set<Item>();
  const coming = items.values();
  let failures = 0;
  let reason: string | null = null;
  const work = async (): Promise<void> => {
    // One iterator for all workers: each takes the next item.
    for (const item of coming) {
      try {
        await ask(item);
        done.add(item);
      } catch (thrown) {
        failures += 1;
        reason ??= messageOf(thrown);
      }
      if (failures >= queriesAtOnce) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(queriesAtOnce, items.length) }, work));
  return {
    left: items.filter((item) => !done.has(item)),
    failures,
    reason,
    isGivenUp: failures >= queriesAtOnce,
  };
}
