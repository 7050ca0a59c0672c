// Keeps what has the focus in sight while the content above it grows, as when a vehicle answers.
import { useCallback } from 'react';

/** A ref for the element that grows; what scrolls may be around it. */
export function useFocusInSight(): (element: HTMLElement | null) => (() => void) | undefined {
  return useCallback((element) => {
    if (element === null) return undefined;
    const watcher = new ResizeObserver(() => {
      const { activeElement } = document;
      if (activeElement !== element && element.contains(activeElement))
        activeElement?.scrollIntoView({ block: 'nearest' });
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
}
