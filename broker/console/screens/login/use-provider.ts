// The login provider of the service.
import { useQuery } from '@tanstack/react-query';
import { call } from '../../service/call.ts';

/** Its host; '' while it is not known, and where the service has none. */
export function useProvider(): string {
  const { data } = useQuery({
    queryKey: ['login-ways'],
    queryFn: ({ signal }) => call('loginWays', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data?.provider ?? '';
}
