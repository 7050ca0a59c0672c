// The audit log page after page, as the filter of the address asks for it.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Result } from '../../api/operations.ts';
import { call } from '../../service/call.ts';
import { type AuditSearch, auditQuery } from '../../state/account/audit-view.ts';

export type Entry = Result<'auditEntries'>['entries'][number];

const pageSize = '100';
/** Pages without an entry that are read on without a press: each has looked through thousands of entries. */
const emptyMost = 25;
const againMs = 30_000;

export function useEntries(search: AuditSearch) {
  const { data, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['audit', 'log', search],
    queryFn: ({ pageParam, signal }) =>
      call('auditEntries', {
        query: {
          ...auditQuery(search),
          limit: pageSize,
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    // Older pages do not change; new entries come before the first one.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) === 1 ? againMs : false),
  });
  const pages = data?.pages ?? [];
  const empty = pages.length - 1 - pages.findLastIndex((page) => page.entries.length > 0);
  const goesOn = hasNextPage && !isFetchingNextPage && empty > 0 && empty % emptyMost !== 0 && error === null;
  useEffect(() => {
    if (goesOn) void fetchNextPage();
  }, [goesOn, pages.length, fetchNextPage]);
  return {
    entries: data === undefined ? undefined : pages.flatMap((page) => page.entries),
    readMs: dataUpdatedAt,
    error,
    hasOlder: hasNextPage,
    isBusy: isFetchingNextPage,
    showOlder: (): void => void fetchNextPage(),
  };
}
