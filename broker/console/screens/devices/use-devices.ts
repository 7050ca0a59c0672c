// The devices of the account as the list shows them: what the service has of each, and the link as the stream has it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { byText } from '../../components/patterns/list-detail.tsx';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { readFleetAgain, vehicles } from '../../service/live.ts';
import type { DeviceRow } from './device-rows.ts';

/** Undefined rows: not read yet. Sorted by name. */
export function useDevices() {
  const live = useValue(vehicles);
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['devices'],
    queryFn: ({ signal }) => call('getAllDevices', { query: { form: 'rows' }, signal }),
  });
  // Sorted once: the live picture of a large fleet changes all the time, its names do not.
  const devices = useMemo(
    () =>
      data?.rows
        ?.map(([id, unique, name, description, driver, heartbeatS]) => {
          return { id, unique, name: name || id, description, driver, heartbeatS };
        })
        .sort(byText(({ name }) => name)),
    [data],
  );
  const rows = useMemo(
    () =>
      devices?.map((device): DeviceRow => {
        const vehicle = live.get(device.id);
        return {
          ...device,
          isOnline: vehicle?.isOnline ?? null,
          heartbeatS: Math.max(vehicle?.heartbeatS ?? 0, device.heartbeatS),
        };
      }),
    [devices, live],
  );
  return { rows, readMs: dataUpdatedAt, error };
}

/** Reads devices anew after a change, here and in the live picture. */
export function useDevicesChanged(): (deviceID?: string) => Promise<void> {
  const queries = useQueryClient();
  return useCallback(
    async (deviceID) => {
      readFleetAgain();
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['devices'] }),
        ...(deviceID === undefined ? [] : [queries.invalidateQueries({ queryKey: ['device', deviceID] })]),
      ]);
    },
    [queries],
  );
}
