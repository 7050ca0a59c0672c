// Reads who may sign an order for a vehicle and how many signatures it needs.
import { useQuery } from '@tanstack/react-query';
import type { Result } from '../../api/operations.ts';
import { call } from '../call.ts';

export type Signers = NonNullable<Result<'getSigners'>['signers']>;

/** Undefined: not known. @param isWanted false: the vehicle pins no owner's key. */
export function useSigners(deviceID: string, isWanted: boolean): Signers | null | undefined {
  const { data } = useQuery({
    queryKey: ['orders', 'signers', deviceID],
    queryFn: ({ signal }) => call('getSigners', { params: { deviceID }, signal }),
    enabled: isWanted,
    // What an order rests on is read anew each time that one is asked for.
    gcTime: 0,
  });
  return data?.signers;
}
