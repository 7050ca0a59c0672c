// The routes of the account, and changes of one. The screen shows what the service answered.
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Body, PlannedRoute } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { zoneChanges } from '../../service/live.ts';
import { useChange } from '../zones/use-change.ts';

const none: readonly PlannedRoute[] = [];
const queryKey = ['routes'];

/** All routes, read again when the stream reports that a route or zone has changed. */
export function useRoutes() {
  const changes = useValue(zoneChanges);
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => call('getRoutes', { signal }),
  });
  useEffect(() => {
    if (changes > 0) void refetch();
  }, [changes, refetch]);
  return {
    routes: data?.routes ?? none,
    isLoaded: data !== undefined,
    readMs: dataUpdatedAt,
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

/** @param onDone after the list was read again. @param routeID what was saved; null: it was deleted. */
export const useRouteChanges = (onDone: (routeID: string | null) => void) =>
  useChange<Change>({
    queryKey,
    send,
    onDone: (change) => onDone(change.action === 'save' ? change.body.routeID : null),
  });
