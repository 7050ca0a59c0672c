// Groups of vehicles, and the one that the address names.
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../call.ts';

/** Groups of the account; a user limited to groups gets those only. */
export function useGroups(isEnabled = true) {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['people', 'groups'],
    queryFn: ({ signal }) => call('groups', { signal }),
    enabled: isEnabled,
  });
  return { items: data?.groups, readMs: dataUpdatedAt, error };
}

/** The group that the address names: `ids` of its vehicles are null without a group, and undefined until they are known. */
export function useGroupInAddress() {
  const { group } = useSearch({ strict: false });
  const { items, error } = useGroups(group !== undefined);
  const found = items?.find(({ groupID }) => groupID === group);
  const ids = useMemo(() => {
    if (group === undefined) return null;
    // A group that this user does not see has no vehicle.
    return items === undefined ? undefined : new Set(found?.devices);
  }, [group, items, found]);
  return { ids, name: found?.groupDisplayName || (group ?? ''), error };
}
