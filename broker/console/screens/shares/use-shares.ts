// The shares of the vehicles that the user sees, as the service has them.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';

/** How often they are read anew while they are shown, ms: others make, open and revoke them too. */
const anewMs = 15_000;

/** Operators and administrators share. Null: the role is not known yet. */
export function useMayShare(): boolean | null {
  const role = useRole();
  return role === '' ? null : role !== 'viewer';
}

/** Undefined shares: not read yet, or the user may not. */
export function useShares() {
  const mayShare = useMayShare();
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['shares'],
    queryFn: ({ signal }) => call('getShares', { signal }),
    enabled: mayShare === true,
    refetchInterval: anewMs,
  });
  return { shares: data?.shares, readMs: dataUpdatedAt, error, mayShare };
}

/** Reads shares anew after a change. */
export function useSharesChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(() => queries.invalidateQueries({ queryKey: ['shares'] }), [queries]);
}
