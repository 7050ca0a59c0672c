// The geozones of the account for the map: read once, and again when the stream reports that one has changed.
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Geozone } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { zoneChanges } from '../../service/live.ts';
import { zoneName } from '../../state/zones/zone-view.ts';

const none: readonly Geozone[] = [];

/** One list for each answer, in whatever component it is read. */
const lists = new WeakMap<object, readonly Geozone[]>();

function listOf(geozones: Readonly<Record<string, Geozone>>): readonly Geozone[] {
  const list = lists.get(geozones) ?? Object.values(geozones);
  lists.set(geozones, list);
  return list;
}

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
  const zones = data === undefined ? none : listOf(data.geozones);
  return {
    zones,
    isLoaded: data !== undefined,
    readMs: dataUpdatedAt,
    error,
    mayChange: data?.hasUpdateGeozonePrivileges === true,
  };
}

/** Names by id, made once for each answer: every row of a list asks. */
const namesOfAnswer = new WeakMap<object, ReadonlyMap<string, string>>();

function namesOf(zones: readonly Geozone[]): ReadonlyMap<string, string> {
  const known = namesOfAnswer.get(zones) ?? new Map(zones.map((zone) => [zone.geozoneID, zoneName(zone)]));
  namesOfAnswer.set(zones, known);
  return known;
}

/** The name of a zone; its id while the zones are not read, and where the zone has no name or is gone. */
export function useZoneName(): (geozoneID: string) => string {
  const names = namesOf(useZones());
  return (geozoneID) => names.get(geozoneID) ?? geozoneID;
}

export const useZones = (): readonly Geozone[] => useZoneList().zones;
