// Repeats a call that the service refused for its load alone.
import { ServiceError } from '../call.ts';

/** How often a call is repeated when the account has too many requests under way. */
const tries = 8;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal.addEventListener('abort', leave, { once: true });
  });

/** Waits as long as the service says where the account has too many requests or reports under way. */
export async function patiently<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await ask();
    } catch (thrown) {
      if (!(thrown instanceof ServiceError) || thrown.code !== 'throttled' || left === 0) throw thrown;
      await pause((thrown.retryAfterS ?? 1) * 1000, signal);
    }
  }
}
