// The geozones of the account for the map: read once, and again when the stream reports that one has changed.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { Geozone } from '../../api/operations.ts';
import { call } from '../../service/call.ts';
import { zoneChanges } from '../../service/live.ts';
import { zoneName } from '../../state/zones/zone-name.ts';
import { useValue } from '../use.ts';

const none: readonly Geozone[] = [];

const useAnswer = () =>
  useQuery({
    queryKey: ['geozones'],
    queryFn: ({ signal }) => call('getGeozones', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** All geozones, with the states of their reading and whether this user may change them. */
export function useZoneList() {
  const changes = useValue(zoneChanges);
  const { data, error, dataUpdatedAt, refetch } = useAnswer();
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

/**
 * The name of a zone; its id while the zones are not read, and where the zone has no name or is gone. Rows of lists ask for it: the zones are
 * read anew by `useZoneList` alone.
 */
export function useZoneName(): (geozoneID: string) => string {
  const { data } = useAnswer();
  return (geozoneID) => {
    const zone = data?.geozones[geozoneID];
    return zone === undefined ? geozoneID : zoneName(zone);
  };
}

export const useZones = (): readonly Geozone[] => useZoneList().zones;
