// Drivers with their keys, and keys of none, as the service has them.
import { useQuery } from '@tanstack/react-query';
import type { Result } from '../../api/operations.ts';
import { seesEveryDevice } from '../../state/people-view.ts';
import { call } from '../call.ts';
import { useUser } from '../role.ts';

export type Driver = Result<'getDrivers'>['drivers'][number];
export type UnknownKey = Result<'getDrivers'>['unknownKeys'][number];

/** Users who see every vehicle see who drives. Null: not known yet. */
export function useSeesDrivers(): boolean | null {
  const user = useUser();
  return user === undefined ? null : seesEveryDevice(user);
}

/** @param isEnabled false: not wanted yet. */
export function useDrivers(isEnabled = true) {
  const isAllowed = useSeesDrivers() === true;
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['drivers'],
    queryFn: ({ signal }) => call('getDrivers', { signal }),
    staleTime: 60_000,
    enabled: isEnabled && isAllowed,
  });
  return { items: data?.drivers, unknown: data?.unknownKeys ?? [], readMs: dataUpdatedAt, error };
}
