// Keeps the screen on, where the browser offers it. The lock ends whenever the page is hidden, and is asked for again when it is shown.
import { createValue } from '../state/value.ts';

const againMs = 300_000;

/** False: the browser may switch the screen off. */
export const staysOn = createValue(true);

let timer: ReturnType<typeof setTimeout> | undefined;

async function askForLock(): Promise<void> {
  clearTimeout(timer);
  if (document.visibilityState !== 'visible') return;
  try {
    const lock = await navigator.wakeLock.request('screen');
    staysOn.set(true);
    lock.addEventListener('release', () => void askForLock(), { once: true });
  } catch {
    // Without HTTPS there is none, and a device that saves power refuses for a while.
    staysOn.set(false);
    timer = setTimeout(() => void askForLock(), againMs);
  }
}

export function keepScreenOn(): void {
  document.addEventListener('visibilitychange', () => void askForLock());
  void askForLock();
}
