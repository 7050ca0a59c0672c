// The routes of the account, and changes of one. The screen shows what the service answered.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Body, PlannedRoute } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { connection, zoneChanges } from '../../service/live.ts';

const none: readonly PlannedRoute[] = [];
const queryKey = ['routes'];

/** All routes, read again when the stream reports that a route or zone has changed. */
export function useRoutes() {
  const changes = useValue(zoneChanges);
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call('getRoutes', { signal }),
  });
  useEffect(() => {
    if (changes > 0) void refetch();
  }, [changes, refetch]);
  return {
    routes: data?.routes ?? none,
    isLoaded: data !== undefined,
    error,
    mayChange: data?.hasUpdateRoutePrivileges === true,
  };
}

type Change =
  | { readonly action: 'save'; readonly body: Body<'routeUpdate'> }
  | { readonly action: 'delete'; readonly routeID: string };

const send = (change: Change): Promise<unknown> =>
  change.action === 'delete'
    ? call('deleteRoute', { body: { routeID: change.routeID } })
    : call('routeUpdate', { body: change.body });

const mutationKey = ['route-change'];

/** @param onDone after the list was read anew. */
export function useRouteChanges(onDone: () => void) {
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const sending = useMutation({
    mutationKey,
    mutationFn: send,
    async onSuccess() {
      await queries.invalidateQueries({ queryKey });
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
