// How much of the inbox this user has not viewed, for the navigation.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from './call.ts';
import { alarms } from './live.ts';

/** The stream reports no notification: an alarm reads the count again at once, this the rest, ms. */
const rereadMs = 30_000;
const countMost = '100';

/** Null until it is known. */
export function useUnviewed(): { readonly count: number; readonly hasMore: boolean } | null {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['inbox', 'count'],
    queryFn: ({ signal }) => call('getNotifications', { query: { limit: countMost }, signal }),
    refetchInterval: rereadMs,
  });
  useEffect(() => alarms.subscribe(() => void queries.invalidateQueries({ queryKey: ['inbox'] })), [queries]);
  return data === undefined ? null : { count: data.notifications.length, hasMore: data.more === true };
}
