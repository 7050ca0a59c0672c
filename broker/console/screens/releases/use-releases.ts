// Releases as the service has them, read again while units work.
import { useQuery } from '@tanstack/react-query';
import { usePages } from '../../components/patterns/list-detail.tsx';
import { call } from '../../service/call.ts';
import type { Phase } from '../../state/releases/release-address.ts';
import { isMoving } from '../../state/releases/release-view.ts';

/** Queries that a change of a release makes old. */
export const releaseChanges = ['releases'];

/** How often a release is read while its units may change, and while none does. */
const movingMs = 3000;
const restMs = 30_000;

export function useReleases() {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['releases', 'list'],
    queryFn: ({ signal }) => call('getReleases', { signal }),
    refetchInterval: ({ state }) => (state.data?.releases.some(isMoving) === true ? movingMs : restMs),
  });
  return { items: data?.releases, hosts: data?.hosts ?? [], readMs: dataUpdatedAt, error };
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

interface UnitFilter {
  readonly phase: Phase | undefined;
  readonly stage: number | undefined;
}

export const useUnits = (releaseID: string, { phase, stage }: UnitFilter, isRunning: boolean) =>
  usePages({
    queryKey: ['releases', 'units', releaseID, phase, stage],
    read: (cursor, signal) =>
      call('getReleaseUnits', {
        params: { releaseID },
        query: {
          limit: '100',
          ...(phase === undefined ? {} : { phase }),
          ...(stage === undefined ? {} : { stage: String(stage) }),
          ...cursor,
        },
        signal,
      }),
    itemsOf: ({ units }) => units,
    againMs: () => (isRunning ? movingMs : restMs),
  });
