// The devices that are picked in the list, in the address.
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { parsePicked } from '../../state/device-view.ts';
import { without } from '../../state/search.ts';

export function usePicked() {
  const navigate = useNavigate({ from: '/devices' });
  const { pick } = useSearch({ from: '/shell/devices' });
  const ids = useMemo(() => parsePicked(pick), [pick]);
  return {
    ids,
    pick: (wanted: readonly string[]): void =>
      void navigate({
        search: (before) =>
          wanted.length === 0 ? without(before, 'pick') : { ...before, pick: wanted.join(',') },
        replace: true,
        resetScroll: false,
      }),
  };
}
