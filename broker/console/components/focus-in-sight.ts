// Keeps what has the focus in sight, also while the content above it grows, as when a vehicle answers.
import { useCallback } from 'react';

/** Buttons at the end of a dialog that stay in sight by themselves: scrolling to them would hide its beginning. */
function isAlwaysInSight(element: Element | null): boolean {
  const footer = element?.closest('footer') ?? null;
  return footer !== null && getComputedStyle(footer).position === 'sticky';
}

/** Moves the focus, and scrolls only to what would be out of sight. */
export function focusInSight(element: HTMLElement | null): void {
  element?.focus({ preventScroll: isAlwaysInSight(element) });
}

/** A ref for the element that grows; what scrolls may be around it. */
export function useFocusInSight(): (element: HTMLElement | null) => (() => void) | undefined {
  return useCallback((element) => {
    if (element === null) return undefined;
    const watcher = new ResizeObserver(() => {
      const { activeElement } = document;
      if (activeElement === element || isAlwaysInSight(activeElement)) return;
      if (element.contains(activeElement)) activeElement?.scrollIntoView({ block: 'nearest' });
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
}
