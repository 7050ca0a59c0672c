// Keeps the screen on, where the browser offers it. The lock ends whenever the page is hidden, and is asked for again when it is shown.
import { useEffect, useState } from 'react';

const againMs = 300_000;

/** @returns false: the browser may switch the screen off. */
export function useWakeLock(): boolean {
  const [staysOn, setStaysOn] = useState(true);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      clearTimeout(timer);
      if (document.visibilityState !== 'visible') return;
      try {
        const lock = await navigator.wakeLock.request('screen');
        setStaysOn(true);
        lock.addEventListener('release', () => void ask(), { once: true });
      } catch {
        // Without HTTPS there is none, and a device that saves power refuses for a while.
        setStaysOn(false);
        timer = setTimeout(() => void ask(), againMs);
      }
    };
    const askAgain = (): void => void ask();
    document.addEventListener('visibilitychange', askAgain);
    askAgain();
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', askAgain);
    };
  }, []);
  return staysOn;
}
