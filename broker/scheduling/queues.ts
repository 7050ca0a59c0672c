// Runs the work on one key strictly in sequence, whatever fails; different keys do not wait for each other. It holds nothing for a key without work.

export type Queues = ReturnType<typeof createQueues>;

/** Queues by number or name, such as a device's. */
export function createQueues() {
  const tails = new Map<number | string, Promise<unknown>>();
  return {
    run<T>(key: number | string, work: () => Promise<T>): Promise<T> {
      const before = tails.get(key) ?? Promise.resolve();
      const result = before.then(work, work);
      tails.set(key, result);
      const forget = (): void => {
        if (tails.get(key) === result) tails.delete(key);
      };
      result.then(forget, forget);
      return result;
    },
    idle: async (): Promise<void> => void (await Promise.allSettled(tails.values())),
  };
}
