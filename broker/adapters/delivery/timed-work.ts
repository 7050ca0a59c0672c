// Work that ends after a time limit, or when its service closes. Not by `AbortSignal.any` with `AbortSignal.timeout`: in Node nothing holds
// such a timeout, so after a garbage collection it never fires (nodejs/node#57736), and a signal that lives as long as the service
// keeps a trace of every one that was made of it (nodejs/node#55351).

export interface TimedWork {
  /** Runs work with a signal that aborts after `limitMs`, or at `close`; at once when it is closed already. */
  run<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Aborts what runs. */
  close(): void;
}

/** Nothing runs. */
export function createTimedWork(): TimedWork {
  const running = new Set<AbortController>();
  let isClosed = false;
  return {
    async run(limitMs, work) {
      const controller = new AbortController();
      if (isClosed) controller.abort();
      const timer = setTimeout(() => controller.abort(), limitMs);
      running.add(controller);
      try {
        return await work(controller.signal);
      } finally {
        clearTimeout(timer);
        running.delete(controller);
      }
    },
    close() {
      isClosed = true;
      for (const controller of running) controller.abort();
    },
  };
}
