// Notifications of this user, and the number of those not viewed for the navigation.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { alarms } from '../../service/live.ts';
import { address, type Badge, screen } from '../../shell/screen.ts';
import { inboxFilters } from '../../state/account/inbox-view.ts';
import { oneOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

/** The stream reports no notification: an alarm reads the count again at once, this the rest, ms. */
const rereadMs = 30_000;
const countMost = '100';

/** Null until it is known. */
function useUnviewed(): { readonly count: number; readonly hasMore: boolean } | null {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['inbox', 'count'],
    queryFn: ({ signal }) => call('getNotifications', { query: { limit: countMost }, signal }),
    refetchInterval: rereadMs,
  });
  useEffect(() => alarms.subscribe(() => void queries.invalidateQueries({ queryKey: ['inbox'] })), [queries]);
  return data === undefined ? null : { count: data.notifications.length, hasMore: data.more === true };
}

function useBadge(): Badge | null {
  const { pages } = useWords();
  const unviewed = useUnviewed();
  return unviewed && { count: unviewed.count, text: pages.inbox.count(unviewed), isQuiet: true };
}

const inbox = address(
  '/inbox',
  { show: oneOf(inboxFilters), vehicle: text },
  () => withWords(import('./inbox.tsx')),
  'InboxScreen',
);

export const inboxScreen = screen({
  routes: [inbox],
  links: [{ to: '/inbox', icon: 'inbox', key: 'i', useBadge }],
});
