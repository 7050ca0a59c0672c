// The geozones of the account for the map: read once, and again when the stream reports that one has changed.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { Geozone } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { zoneChanges } from '../../service/live.ts';

const none: readonly Geozone[] = [];

export function useZones(): readonly Geozone[] {
  const changes = useValue(zoneChanges);
  const { data, refetch } = useQuery({
    queryKey: ['geozones'],
    queryFn: ({ signal }) => call('getGeozones', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (changes > 0) void refetch();
  }, [changes, refetch]);
  return useMemo(() => (data === undefined ? none : Object.values(data.geozones)), [data]);
}
