// Asks whether the service is back, and then loads the page that the address names.
import { createValue } from '../state/value.ts';

const page = '/console/';
const againMs = 10_000;
const waitMs = 10_000;

/** True while the service is asked. */
export const isAsking = createValue(false);

/** Loads the page anew once the service answers. */
export async function tryReturn(): Promise<void> {
  if (isAsking.get()) return;
  isAsking.set(true);
  try {
    const signal = AbortSignal.timeout(waitMs);
    const answer = await fetch(page, { credentials: 'omit', cache: 'no-store', signal });
    if (answer.status >= 500) return;
    // The page by its own name would load itself again and again.
    if (location.pathname.startsWith('/console/offline')) location.replace(page);
    else location.reload();
  } catch {
    // It is not back.
  } finally {
    isAsking.set(false);
  }
}

export function followReturn(): void {
  setInterval(() => void tryReturn(), againMs);
  window.addEventListener('online', () => void tryReturn());
}
