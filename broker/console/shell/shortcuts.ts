// Keyboard shortcuts; `keys-dialog.tsx` lists them. Single keys can be switched off (WCAG 2.1.4).
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isPractice } from '../service/session.ts';
import { singleKeys } from './single-keys.ts';

interface Handlers {
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
export function useShortcuts({ openPalette, showKeys }: Handlers): void {
  const navigate = useNavigate();
  useEffect(() => {
    let before = { key: '', atMs: 0 };
    const handle = (event: KeyboardEvent): void => {
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
      if (event.key === '?') showKeys();
      else if (event.key === '/') openPalette();
      else if (chord === 'g m') void navigate({ to: '/live' });
      else if (chord === 'g a') void navigate({ to: '/alarms' });
      else if (chord === 'g p') void navigate({ to: '/approvals' });
      else if (chord === 'g d') void navigate({ to: '/devices' });
      else if (chord === 'g s') void navigate({ to: '/settings' });
      else if (chord === 'g u') void navigate({ to: '/people' });
      else if (chord === 'g r') void navigate({ to: '/reports' });
      else if (chord === 'g o') void navigate({ to: '/routes' });
      else if (chord === 'g h') void navigate({ to: '/shares' });
      else if (chord === 'g z') void navigate({ to: '/zones' });
      else if (chord === 'g f') void navigate({ to: '/releases' });
      else if (chord === 'g n') void navigate({ to: '/rules' });
      else if (chord === 'g w' && isPractice()) void navigate({ to: '/practice' });
      else if (chord === 'g i') void navigate({ to: '/inbox' });
      else if (chord === 'g x') void navigate({ to: '/audit' });
      else if (chord === 'g c') void navigate({ to: '/account' });
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  }, [openPalette, showKeys, navigate]);
}
