// A question about a restrictive order closes when the session ends: the facts that it shows would be old after the login.
import { useEffect } from 'react';
import { useValue } from '../../components/use.ts';
import { hasClosedOrder, isEnded } from '../../service/session.ts';

/** @param isAsking the question is open. @param close a constant. */
export function useCloseWhenEnded(isAsking: boolean, close: () => void): void {
  const hasEnded = useValue(isEnded);
  useEffect(() => {
    if (!hasEnded || !isAsking) return;
    hasClosedOrder.set(true);
    close();
  }, [hasEnded, isAsking, close]);
}
