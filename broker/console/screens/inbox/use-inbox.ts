// The inbox page after page, and its marks. A notification counts as viewed when the service says so.
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { Result } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';
import type { InboxFilter } from '../../state/account/inbox-view.ts';

export type Notification = Result<'getNotifications'>['notifications'][number];

const pageSize = '50';

interface Choice {
  readonly show: InboxFilter;
  /** Null: of every vehicle. */
  readonly deviceID: string | null;
}

function read({ show, deviceID }: Choice, query: { limit: string; cursor?: string }, signal: AbortSignal) {
  if (deviceID !== null) return call('getDeviceNotifications', { params: { deviceID }, query, signal });
  return show === 'unviewed'
    ? call('getNotifications', { query, signal })
    : call('getAllPushNotifications', { query, signal });
}

export function useInbox(choice: Choice) {
  const { show, deviceID } = choice;
  const { data, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['inbox', 'list', show, deviceID],
    queryFn: ({ pageParam, signal }) =>
      read(choice, { limit: pageSize, ...(pageParam === '' ? {} : { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: ({ more, next }) => (more === true ? next : undefined),
  });
  const all = data?.pages.flatMap(({ notifications }) => notifications);
  return {
    // Of one vehicle the service gives those that were viewed too.
    rows: show === 'unviewed' ? all?.filter(({ viewed }) => !viewed) : all,
    readMs: dataUpdatedAt,
    error,
    hasOlder: hasNextPage,
    isBusy: isFetchingNextPage,
    showOlder: (): void => void fetchNextPage(),
  };
}

export function useMark() {
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const marking = useSending({
    mutationKey: ['inbox-mark'],
    /** @param notificationID `*`: all that there are. */
    mutationFn: (notificationID: string) => call('setViewed', { params: { notificationID } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['inbox'] }),
  });
  return {
    isOff: state !== 'live' || marking.isBusy,
    isDown: state !== 'live',
    failure: marking.failure,
    hasMarkedAll: marking.isSuccess && marking.variables === '*',
    mark: marking.send,
  };
}
