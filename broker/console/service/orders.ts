// What the ledger says of orders and requests for approval, read again whenever the stream says that something changed.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Approval, ListedCommand } from '../api/operations.ts';
import { type Report, type Reports } from '../state/orders/cut-course.ts';
import { cutStateOf } from '../state/orders/cut-view.ts';
import { call } from './call.ts';
import { orderChanges } from './live.ts';
import { useUser } from './role.ts';

/** The stream says every change; this finds what ran out by time alone, ms. */
const rereadMs = 10_000;
const requestsMost = '100';
const recordsMost = '5000';
const newestMost = '50';

/** Reads orders of a vehicle again when they change. @param deviceID null: of all vehicles. */
export function useOrderChanges(deviceID: string | null): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      orderChanges.subscribe(() => {
        const changed = orderChanges.get().deviceID;
        if (changed !== null && deviceID !== null && changed !== deviceID) return;
        void queries.invalidateQueries({ queryKey: ['orders'] });
      }),
    [queries, deviceID],
  );
}

/** One command as the ledger has it. @param commandID null: none. */
export function useCommand(commandID: string | null) {
  return useQuery({
    queryKey: ['orders', 'command', commandID],
    queryFn: ({ signal }) => call('getCommand', { params: { commandID: commandID ?? '' }, signal }),
    enabled: commandID !== null,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.hasEnded === true ? false : rereadMs),
  });
}

/** Requests for approval, the newest first. @param state `all` holds the newest 100, decided or not. */
export function useRequests(state: 'pending' | 'all', isEnabled = true) {
  return useQuery({
    queryKey: ['orders', 'requests', state],
    queryFn: async ({ signal }) => {
      const { approvals } = await call('listApprovals', { query: { state, limit: requestsMost }, signal });
      return approvals;
    },
    enabled: isEnabled,
    staleTime: 0,
    refetchInterval: rereadMs,
  });
}

/** Requests that wait for this user's approval, the newest first; none for a viewer. */
export function useOwnApprovals(): readonly Approval[] {
  const user = useUser();
  const { data } = useRequests('pending');
  if (user === undefined || user.roleID === 'viewer') return [];
  return (data ?? []).filter(
    ({ requestedBy, signing }) =>
      requestedBy !== user.userID && !signing?.given.some(({ userID }) => userID === user.userID),
  );
}

/** The newest commands of a vehicle: what became of an order that has ended. */
export function useNewestCommands(deviceID: string, isEnabled: boolean): readonly ListedCommand[] {
  const { data } = useQuery({
    queryKey: ['orders', 'newest', deviceID],
    queryFn: ({ signal }) =>
      call('listCommands', { params: { deviceID }, query: { limit: newestMost }, signal }),
    enabled: isEnabled,
    staleTime: 0,
    refetchInterval: rereadMs,
  });
  return data?.commands ?? [];
}

/** What the account allows this user; for operators and administrators only. */
export function useLimits(isEnabled: boolean) {
  return useQuery({
    queryKey: ['orders', 'limits'],
    queryFn: ({ signal }) => call('commandLimits', { signal }),
    enabled: isEnabled,
    staleTime: 0,
  });
}

interface Reported {
  readonly deviceID: string;
  readonly commandID: string;
  /** Epoch seconds. */
  readonly issued: number;
  /** Moves when the ledger has a new state. */
  readonly stamp: string;
}

/** A clock of a vehicle that runs behind the service's by less than this still gives its times, s. */
const behindS = 60;

/** When the vehicle reported each state of a command first, by its events. */
export function useReports({ deviceID, commandID, issued, stamp }: Reported, isEnabled: boolean): Reports {
  const { data } = useQuery({
    queryKey: ['reports', commandID, stamp],
    queryFn: async ({ signal }) => {
      const { eventdata } = await call('deviceDataRange', {
        params: { deviceID, startTime: String(issued - behindS), endTime: '0' },
        query: { fields: 'timestamp,creationTime,commandID,commandState', limit: recordsMost },
        signal,
      });
      const found = new Map<string, Report>();
      for (const record of eventdata.devices) {
        if (record.commandID !== commandID || typeof record.commandState !== 'string') continue;
        // An armed command reports again while its reasons change: the first report is when it began.
        const name = cutStateOf(record.commandState);
        const { timestamp: ownAt, creationTime: at } = record;
        if (ownAt !== undefined && at !== undefined && at < (found.get(name)?.at ?? Number.POSITIVE_INFINITY))
          found.set(name, { ownAt, at });
      }
      return found;
    },
    enabled: isEnabled,
    placeholderData: (before) => before,
  });
  return data ?? new Map<string, Report>();
}
