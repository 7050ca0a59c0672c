// The owner's documents that the service keeps, for administrators.
import { useQuery } from '@tanstack/react-query';
import type { Result } from '../../api/operations.ts';
import { call } from '../call.ts';
import { useRole } from '../role.ts';

export type OwnerRecord = Result<'getOwner'>['owners'][number];

export function useOwners() {
  const role = useRole();
  return useQuery({
    queryKey: ['account', 'owner'],
    queryFn: ({ signal }) => call('getOwner', { signal }),
    enabled: role === 'admin',
    retry: false,
  });
}

/** The document of a key; null: not known here. @param key undefined: none is wanted. */
export function useOwner(key: string | undefined): OwnerRecord | null {
  const { data } = useOwners();
  return data?.owners.find((one) => one.key === key) ?? null;
}
