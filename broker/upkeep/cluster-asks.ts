// Many questions to a cluster, some at once. A cluster that answers none of them is left alone soon, and what was not asked is
// told, so that nobody takes it for done. It must never have more than `asksAtOnce` questions open.
import { messageOf } from '../../src/core/errors.ts';

export interface Asked<Item> {
  /** In the order in which they were given; what failed and what was not asked any more. */
  readonly left: readonly Item[];
  /** Of what was asked. */
  readonly failures: number;
  /** Of the first failure; null: there was none. */
  readonly reason: string | null;
  /** True: so many failed that the rest was not asked. */
  readonly isGivenUp: boolean;
}

/** Questions that are open at once, and failures after which the rest is left. */
export const asksAtOnce = 10;

/** Asks about each one. Never rejects: what `ask` rejects is left. */
export async function askEach<Item>(
  items: readonly Item[],
  ask: (item: Item) => Promise<unknown>,
): Promise<Asked<Item>> {
  const done = new Set<Item>();
  const coming = items.values();
  let failures = 0;
  let reason: string | null = null;
  const work = async (): Promise<void> => {
    // One iterator for all: each takes the next one that nobody has.
    for (const item of coming) {
      try {
        await ask(item);
        done.add(item);
      } catch (thrown) {
        failures += 1;
        reason ??= messageOf(thrown);
      }
      if (failures >= asksAtOnce) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(asksAtOnce, items.length) }, work));
  return {
    left: items.filter((item) => !done.has(item)),
    failures,
    reason,
    isGivenUp: failures >= asksAtOnce,
  };
}
