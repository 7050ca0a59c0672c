// The settings of the account and of one vehicle as the service has them, and their change. Nothing is shown as saved before the service says so.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { SettingsChange } from '../../../../src/core/settings/change.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { connection, zoneChanges } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';

/** The service announces no change of a vehicle's version. */
const heldAgainMs = 15_000;

export function useAccountSettings() {
  const changes = useValue(zoneChanges);
  return useQuery({
    queryKey: ['settings', changes],
    queryFn: ({ signal }) => call('getAccountSettings', { signal }),
    placeholderData: (before) => before,
  });
}

export function useDeviceSettings(deviceID: string) {
  const changes = useValue(zoneChanges);
  return useQuery({
    queryKey: ['settings', deviceID, changes],
    queryFn: ({ signal }) => call('getDeviceSettings', { params: { deviceID }, signal }),
    refetchInterval: heldAgainMs,
    placeholderData: (before) => before,
  });
}

interface Save {
  readonly settings: SettingsChange;
  /** As it was read: the service refuses the change when another was saved since. */
  readonly revision: number;
}

/** @param deviceID null: the settings of all vehicles. */
export function useSaveSettings(deviceID: string | null) {
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const { isBusy, isSuccess, failure, reset, send } = useSending({
    mutationKey: ['settings-change'],
    mutationFn: (body: Save): Promise<unknown> =>
      deviceID === null
        ? call('saveAccountSettings', { body })
        : call('saveDeviceSettings', { body: { deviceID, ...body } }),
    onSettled: () =>
      Promise.all(
        ['settings', 'configurations'].map((name) => queries.invalidateQueries({ queryKey: [name] })),
      ),
  });
  return {
    isDown: state !== 'live',
    isBusy,
    isSaved: isSuccess,
    failure,
    reset,
    run: (body: Save, onDone: () => void): void => send(body, { onSuccess: onDone }),
  };
}
