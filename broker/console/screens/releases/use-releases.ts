// Releases as the service has them, read again while units work, and the dialog that the address names.
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { call } from '../../service/call.ts';
import type { Phase, ReleaseDialog } from '../../state/releases/release-address.ts';
import { isMoving } from '../../state/releases/release-view.ts';
import { without } from '../../state/search.ts';

/** How often a release is read while its units may change, and while none does. */
const movingMs = 3000;
const restMs = 30_000;
const pageSize = '100';

export function useReleases() {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['releases', 'list'],
    queryFn: ({ signal }) => call('getReleases', { signal }),
    refetchInterval: ({ state }) => (state.data?.releases.some(isMoving) === true ? movingMs : restMs),
  });
  return { releases: data?.releases, hosts: data?.hosts ?? [], readMs: dataUpdatedAt, error };
}

export function useRelease(releaseID: string) {
  const { data, error } = useQuery({
    queryKey: ['releases', 'one', releaseID],
    queryFn: ({ signal }) => call('getRelease', { params: { releaseID }, signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isMoving(state.data.release) ? movingMs : restMs,
  });
  return { release: data?.release, error };
}

export function useUnits(
  releaseID: string,
  { phase, stage }: { readonly phase: Phase | null; readonly stage: number | null },
  isRunning: boolean,
) {
  const { data, error, dataUpdatedAt, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['releases', 'units', releaseID, phase, stage],
    queryFn: ({ pageParam, signal }) =>
      call('getReleaseUnits', {
        params: { releaseID },
        query: {
          limit: pageSize,
          ...(phase === null ? {} : { phase }),
          ...(stage === null ? {} : { stage: String(stage) }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: isRunning ? movingMs : restMs,
  });
  return {
    units: data?.pages.flatMap(({ units }) => units),
    readMs: dataUpdatedAt,
    error,
    hasMore: hasNextPage,
    isBusy: isFetchingNextPage,
    showMore: (): void => void fetchNextPage(),
  };
}

export function useGroups() {
  const { data, error } = useQuery({
    queryKey: ['people', 'groups'],
    queryFn: ({ signal }) => call('groups', { signal }),
  });
  return { groups: data?.groups, error };
}

export function useReleaseDialog() {
  const navigate = useNavigate({ from: '/releases' });
  const { open, unit } = useSearch({ from: '/shell/releases' });
  return {
    unit: unit ?? null,
    isOpen: (name: ReleaseDialog): boolean => open === name,
    /** @param of the unit that it is about. */
    open: (name: ReleaseDialog, of?: string) =>
      void navigate({
        search: (before) => ({ ...before, open: name, ...(of === undefined ? {} : { unit: of }) }),
        replace: true,
        resetScroll: false,
      }),
    close: () =>
      void navigate({
        search: (before) => without(without(before, 'open'), 'unit'),
        replace: true,
        resetScroll: false,
      }),
  };
}

/** A change of releases; they are read anew after it. @param done what follows when it was made. */
export function useReleaseChange<T>(run: () => Promise<T>, done: (result: T) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSettled: () => queries.invalidateQueries({ queryKey: ['releases'] }),
    onSuccess: done,
  });
}
