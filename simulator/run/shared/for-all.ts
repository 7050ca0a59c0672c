// The same asynchronous work on every item of a list, some at a time.

const concurrency = 8;

/** Runs `work` on every item, at most `most` at a time; rejects at the first failure. */
export async function forAll<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  most = concurrency,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: most }, worker));
}
