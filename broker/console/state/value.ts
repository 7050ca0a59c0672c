// A value with listeners, in the form that React's useSyncExternalStore takes. Pure.

export interface Value<T> {
  get(): T;
  set(next: T): void;
  /** @returns what ends the subscription. */
  subscribe(listener: () => void): () => void;
}

export function createValue<T>(first: T): Value<T> {
  let present = first;
  const listeners = new Set<() => void>();
  return {
    get: () => present,
    set(next) {
      if (Object.is(next, present)) return;
      present = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
