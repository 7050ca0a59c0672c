// When a toast is due: the connection is back, a language could not be loaded, alarms came in while another screen is shown.
import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useValue } from '../../components/use.ts';
import { alarms, alarmsReadMs, connection } from '../../service/live.ts';
import { notLoaded } from '../../words/word-set.ts';
import { newAlarms, say, toasts } from './toast-queue.ts';

function useConnectionBack(): void {
  const { state } = useValue(connection);
  const wasDown = useRef(false);
  useEffect(() => {
    if (state === 'down') wasDown.current = true;
    if (state !== 'live' || !wasDown.current) return;
    wasDown.current = false;
    say({ kind: 'back' });
  }, [state]);
}

function useLanguageNotLoaded(): void {
  const wanted = useValue(notLoaded);
  useEffect(() => {
    if (wanted === null) return undefined;
    const key = say({ kind: 'language', wanted });
    return () => toasts.close(key);
  }, [wanted]);
}

/** One toast for all new alarms since the page was opened. It goes when they are taken, and on the screen of the alarms. */
function useNewAlarms(): void {
  const open = useValue(alarms);
  const { pathname } = useLocation();
  const isShown = pathname === '/alarms';
  // What was open when it was read first is no toast. By the alarms themselves: no two clocks are compared.
  const [known, setKnown] = useState<ReadonlySet<string> | null>(null);
  const readMs = useValue(alarmsReadMs);
  useEffect(() => {
    if (readMs !== null) setKnown((before) => before ?? new Set(alarms.get().keys()));
  }, [readMs]);
  const viewed = useRef<ReadonlySet<string>>(new Set());
  const key = useRef<string | null>(null);
  useEffect(() => {
    const all = [...open.values()].filter(
      ({ alarmID, alarmState }) => alarmState === 'new' && known?.has(alarmID) === false,
    );
    if (isShown) viewed.current = new Set(all.map(({ alarmID }) => alarmID));
    const fresh = all
      .filter(({ alarmID }) => !viewed.current.has(alarmID))
      .toSorted((one, other) => other.opened - one.opened);
    newAlarms.set(fresh);
    if (fresh.length === 0 && key.current !== null) toasts.close(key.current);
    if (fresh.length > 0)
      key.current ??= say({ kind: 'alarms' }, () => {
        key.current = null;
        viewed.current = new Set([...viewed.current, ...newAlarms.get().map(({ alarmID }) => alarmID)]);
      });
  }, [open, isShown, known]);
}

export function useOccasions(): void {
  useConnectionBack();
  useLanguageNotLoaded();
  useNewAlarms();
  // What was said belongs to the session.
  useEffect(() => () => toasts.clear(), []);
}
