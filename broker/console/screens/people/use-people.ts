// Users and groups as the service has them.
import { useQuery } from '@tanstack/react-query';
import type { Body } from '../../api/operations.ts';
import { call, ServiceError } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';

export { useGroups } from '../../service/reading/groups.ts';

/** Queries that a change of people makes old. */
export const peopleChanges = ['people', 'user'];

/** Undefined users: not read yet, or the reader is no administrator. */
export function useUsers() {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['people', 'users'],
    queryFn: ({ signal }) => call('getAllUsers', { signal }),
    enabled: useRole() === 'admin',
  });
  return { items: data?.users, readMs: dataUpdatedAt, error };
}

export type GroupChange = Body<'changeGroupDevices'>;

/** @throws ServiceError of the first device that the service refused; the others are changed. */
export async function changeGroup(change: GroupChange): Promise<void> {
  const { items } = await call('changeGroupDevices', { body: change });
  const failed = items.find(({ error }) => error !== null);
  if (failed?.error) throw new ServiceError(failed.error, failed.status);
}
