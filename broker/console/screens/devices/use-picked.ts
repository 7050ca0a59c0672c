// The devices that are picked in the list, in the address.
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { usePut } from '../../components/patterns/address.tsx';
import { parsePicked, pickedMost } from '../../state/device-view.ts';

const pickOf = (ids: readonly string[]) => ({ pick: ids.join(',') || undefined });

export function usePicked() {
  const put = usePut();
  const { pick } = useSearch({ from: '/shell/devices' });
  const ids = useMemo(() => parsePicked(pick), [pick]);
  return {
    ids,
    pick: (wanted: readonly string[]): void => put(pickOf(wanted)),
    /** Picks one, or no longer. */
    toggle: (deviceID: string): void =>
      put(({ pick: text }) => {
        const before = parsePicked(text);
        const others = before.filter((id) => id !== deviceID);
        if (others.length < before.length) return pickOf(others);
        return pickOf(before.length < pickedMost ? [...before, deviceID] : before);
      }),
  };
}
