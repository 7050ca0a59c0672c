// Keyboard shortcuts; `keys-dialog.tsx` lists them. Single keys can be switched off (WCAG 2.1.4).
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isEnded, isPractice } from '../service/session.ts';
import type { ScreenLink } from './screen.ts';
import { singleKeys } from './single-keys.ts';

interface Handlers {
  /** A constant. */
  readonly links: readonly ScreenLink[];
  openPalette(): void;
  showKeys(): void;
}

/** A second key that comes later than this is a first one, ms. */
const chordMs = 1200;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

/** Moves the focus to the restore of the open vehicle, so that Enter asks for it: a single key by accident restores nothing. */
function focusRestore(): void {
  [...document.querySelectorAll<HTMLElement>('[data-restore]')].at(-1)?.focus();
}

/** Listens on the whole page while the shell is there. */
export function useShortcuts({ links, openPalette, showKeys }: Handlers): void {
  const navigate = useNavigate();
  useEffect(() => {
    let before = { key: '', atMs: 0 };
    const handle = (event: KeyboardEvent): void => {
      // The page is behind the login.
      if (isEnded.get()) return;
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) {
        event.preventDefault();
        return openPalette();
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (!singleKeys.get() || isTyping(event.target)) return;
      if (event.key === 'R') return focusRestore();
      if (document.querySelector('[role=dialog]') !== null) return;
      const chord = event.timeStamp - before.atMs < chordMs ? `${before.key} ${event.key}` : event.key;
      before = { key: event.key, atMs: event.timeStamp };
      // A page that this user may not see says so itself.
      const page = links.find(
        ({ key, condition }) => chord === `g ${key}` && (condition !== 'practice' || isPractice()),
      );
      if (event.key === '?') showKeys();
      else if (event.key === '/') openPalette();
      else if (page !== undefined) void navigate({ to: page.to });
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  }, [links, openPalette, showKeys, navigate]);
}
