// The user of this session and the role, as the service has them.
import { useQuery } from '@tanstack/react-query';
import { call } from './call.ts';
import { session } from './session.ts';

/** The user of this session; undefined until it is known. */
export function useUser() {
  const present = session.get();
  const { data } = useQuery({
    queryKey: ['user', present?.userID],
    queryFn: ({ signal }) => call('getUser', { params: { userID: present?.userID ?? '' }, signal }),
    enabled: present !== null,
    staleTime: 60_000,
  });
  return data;
}

/** `viewer`, `operator` or `admin`; '' until it is known. */
export const useRole = (): string => useUser()?.roleID ?? '';
