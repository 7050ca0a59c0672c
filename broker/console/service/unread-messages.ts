// Messages of vehicles that this user has not marked as read: one answer for the inbox and for the vehicle.
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from './call.ts';
import { liveEvents } from './live.ts';

/** A vehicle wrote. */
const writtenCode = 4392;
const rereadMs = 30_000;

export const unreadMessagesKey = ['messages', 'unread'] as const;

/** The oldest first, read again when the stream reports one. */
export function useUnreadMessages() {
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: unreadMessagesKey,
    queryFn: ({ signal }) => call('getMessages', { signal }),
    refetchInterval: rereadMs,
  });
  useEffect(() => {
    let newest: string | undefined;
    return liveEvents.subscribe(() => {
      const written = liveEvents.get().find(({ statusCode }) => statusCode === writtenCode)?.eventID;
      if (written === undefined || written === newest) return;
      newest = written;
      void refetch();
    });
  }, [refetch]);
  return { data, readMs: dataUpdatedAt, error };
}
