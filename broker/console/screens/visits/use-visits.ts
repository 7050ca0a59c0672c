// The vehicles of a place part by part, and the ways that they drove in that time.
import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Result } from '../../api/operations.ts';
import type { Track } from '../../map/map.ts';
import { call } from '../../service/call.ts';
import { trackOf } from '../../state/track.ts';
import type { VisitQuestion } from '../../state/visits/visit-view.ts';

export type Visit = Result<'getVisits'>['visits'][number];

/** Ways that are read and drawn while no vehicle is selected. */
export const waysMost = 20;

const byTime = (one: Visit, other: Visit): number =>
  one.firstTimestamp - other.firstTimestamp || (one.deviceID < other.deviceID ? -1 : 1);

/** @param question null: none is asked yet. */
export function useVisits(question: VisitQuestion | null) {
  const { data, error, dataUpdatedAt, hasNextPage, isFetching, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: ['visits', question],
    queryFn: ({ pageParam, signal }) =>
      call('getVisits', {
        params: {
          latitude: String(question?.place.latitude),
          longitude: String(question?.place.longitude),
          radius: String(question?.radiusM),
          startTime: String(question?.fromS),
          endTime: String(question?.toS),
        },
        query: pageParam === null ? {} : { cursor: pageParam },
        signal,
      }),
    enabled: question !== null,
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    // Asked anew by a press only: what came late may change it.
    refetchOnWindowFocus: false,
  });
  const visits = useMemo(() => data?.pages.flatMap((page) => page.visits).toSorted(byTime) ?? [], [data]);
  return {
    visits,
    readMs: dataUpdatedAt,
    error,
    hasMore: hasNextPage,
    isBusy: isFetching,
    readMore: (): void => void fetchNextPage(),
    again: (): void => void refetch(),
  };
}

/** @returns lines of the vehicles that are read; a vehicle whose way cannot be read has none. */
export function useWays(question: VisitQuestion | null, deviceIDs: readonly string[]): Track {
  const answers = useQueries({
    queries: deviceIDs.map((deviceID) => ({
      queryKey: ['visit way', deviceID, question?.fromS, question?.toS],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const { eventdata } = await call('deviceDataRange', {
          params: { deviceID, startTime: String(question?.fromS), endTime: String(question?.toS) },
          query: { points: '500', fields: 'timestamp,latitude,longitude,isPositionValid' },
          signal,
        });
        return trackOf(eventdata.devices);
      },
      enabled: question !== null,
      refetchOnWindowFocus: false,
    })),
  });
  const key = answers.map(({ dataUpdatedAt }) => dataUpdatedAt).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is another object each time, and its times name what is in it
  return useMemo(() => answers.flatMap(({ data }) => data ?? []), [key, deviceIDs]);
}
