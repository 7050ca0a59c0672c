// Saving and deleting a geozone, and the versions that vehicles hold. The screen shows what the service answered.
import { useQuery } from '@tanstack/react-query';
import type { Body, Result } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { zoneChanges } from '../../service/live.ts';
import { useChange } from './use-change.ts';

export type Configuration = Result<'getDeviceSettings'>['configuration'];

type Change =
  | { readonly action: 'create' | 'update'; readonly body: Body<'createGeozone'> }
  | { readonly action: 'delete'; readonly geozoneID: string };

const send = (change: Change): Promise<unknown> => {
  if (change.action === 'delete') return call('deleteGeozone', { body: { geozoneID: change.geozoneID } });
  return call(change.action === 'create' ? 'createGeozone' : 'updateGeozone', { body: change.body });
};

const queryKey = ['geozones'];

/** @param onDone after the list was read again. @param geozoneID what was saved; null: it was deleted. */
export const useZoneChanges = (onDone: (geozoneID: string | null) => void) =>
  useChange<Change>({
    queryKey,
    send,
    onDone: (change) => onDone(change.action === 'delete' ? null : change.body.geozoneID),
  });

/** What these vehicles hold, asked one after the other, and again when one of them reports another version. */
export function useConfigurations(deviceIDs: readonly string[]) {
  const changes = useValue(zoneChanges);
  return useQuery({
    queryKey: ['configurations', deviceIDs, changes],
    queryFn: async ({ signal }) => {
      const found = new Map<string, Configuration>();
      for (const deviceID of deviceIDs) {
        const { configuration } = await call('getDeviceSettings', { params: { deviceID }, signal });
        found.set(deviceID, configuration);
      }
      return found;
    },
    placeholderData: (before) => before,
  });
}
