// Units from which nothing at all was received for the time that the address names.
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../../service/call.ts';
import type { Silence } from '../../state/device-view.ts';

/** Silence begins without an event. */
const againMs = 60_000;

/** A day has an operation of its own at the service. */
const minutesOf: Readonly<Record<Exclude<Silence, 'day'>, string>> = { hour: '60', week: '10080' };

/** Undefined ids: not asked for, or not read yet. */
export function useSilent() {
  const { silent } = useSearch({ from: '/shell/devices' });
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['devices', 'silent', silent],
    queryFn: ({ signal }) =>
      silent === undefined || silent === 'day'
        ? call('lostVehicles', { signal })
        : call('lostVehiclesFor', { params: { minutes: minutesOf[silent] }, signal }),
    enabled: silent !== undefined,
    refetchInterval: againMs,
  });
  const ids = useMemo(
    () => (data === undefined ? undefined : new Set(data.devices.map(({ deviceID }) => deviceID))),
    [data],
  );
  return {
    isAsked: silent !== undefined,
    ids: silent === undefined ? undefined : ids,
    readMs: dataUpdatedAt,
    error,
  };
}
