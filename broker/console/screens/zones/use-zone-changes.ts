// Saving and deleting a geozone, and the versions that vehicles hold. The screen shows what the service answered.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Body, Result } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { connection, zoneChanges } from '../../service/live.ts';

export type Configuration = Result<'getDeviceSettings'>['configuration'];

type Change =
  | { readonly action: 'create' | 'update'; readonly body: Body<'createGeozone'> }
  | { readonly action: 'delete'; readonly geozoneID: string };

const send = (change: Change): Promise<unknown> => {
  if (change.action === 'delete') return call('deleteGeozone', { body: { geozoneID: change.geozoneID } });
  return call(change.action === 'create' ? 'createGeozone' : 'updateGeozone', { body: change.body });
};

const mutationKey = ['zone-change'];

/** @param onDone after the list was read anew. */
export function useZoneChanges(onDone: () => void) {
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const sending = useMutation({
    mutationKey,
    mutationFn: send,
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ['geozones'] });
      onDone();
    },
  });
  return {
    /** The stream is down: what is shown may be old, so no change is offered. */
    isDown: state !== 'live',
    isBusy: sending.isPending,
    failure: sending.error,
    reset: sending.reset,
    // Two presses come faster than the second is drawn.
    run: (change: Change): void => {
      if (queries.isMutating({ mutationKey }) === 0) sending.mutate(change);
    },
  };
}

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
