// The geozones of the account for the map: read once, and again when the stream reports that one has changed.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { Geozone } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { zoneChanges } from '../../service/live.ts';

const none: readonly Geozone[] = [];

/** All geozones, with the states of their reading and whether this user may change them. */
export function useZoneList() {
  const changes = useValue(zoneChanges);
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['geozones'],
    queryFn: ({ signal }) => call('getGeozones', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (changes > 0) void refetch();
  }, [changes, refetch]);
  const zones = useMemo(() => (data === undefined ? none : Object.values(data.geozones)), [data]);
  return {
    zones,
    isLoaded: data !== undefined,
    readMs: dataUpdatedAt,
    error,
    mayChange: data?.hasUpdateGeozonePrivileges === true,
  };
}

export const useZones = (): readonly Geozone[] => useZoneList().zones;
