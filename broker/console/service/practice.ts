// The practice fleet as the service has it, what is done in its world, and which steps of the guided start have happened.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { PracticeAction } from '../../../src/core/practice.ts';
import type { PracticeStep } from '../state/practice/guide.ts';
import { createValue } from '../state/value.ts';
import { call } from './call.ts';

/** Steps that happened in this run of the fleet, as this tab has seen them. */
export const practiceDone = createValue<readonly PracticeStep[]>([]);

/** @param everyMs how often it is read again: the world reports nothing by itself. */
export function usePracticeFleet(everyMs: number, isEnabled = true) {
  return useQuery({
    queryKey: ['practice'],
    queryFn: ({ signal }) => call('getPracticeFleet', { signal }),
    staleTime: 0,
    refetchInterval: everyMs,
    enabled: isEnabled,
  });
}

/** One thing that is done in the world. */
export interface PracticeAct {
  readonly deviceID: string;
  /** `askForCut`: the colleague asks for a cut. */
  readonly action: PracticeAction | 'askForCut';
}

export function usePracticeActs() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ deviceID, action }: PracticeAct) =>
      action === 'askForCut'
        ? call('askInPractice', { body: { deviceID } })
        : call('actInPractice', { body: { deviceID, action } }),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['practice'] }),
        queries.invalidateQueries({ queryKey: ['orders'] }),
      ]),
  });
}
