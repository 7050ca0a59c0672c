// The devices that are picked in the list, in the address.
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { usePut } from '../../components/patterns/address.tsx';
import { parsePicked } from '../../state/device-view.ts';

export function usePicked() {
  const put = usePut();
  const { pick } = useSearch({ from: '/shell/devices' });
  const ids = useMemo(() => parsePicked(pick), [pick]);
  return {
    ids,
    pick: (wanted: readonly string[]): void => put({ pick: wanted.join(',') || undefined }),
  };
}
