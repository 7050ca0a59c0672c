// Rules as the service has them.
import { useQuery } from '@tanstack/react-query';
import { call } from '../../service/call.ts';

/** Queries that a change of a rule makes old. */
export const ruleChanges = ['rules', 'deliveries'];

export function useRules() {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['rules'],
    queryFn: ({ signal }) => call('getRules', { signal }),
  });
  return { items: data?.rules, readMs: dataUpdatedAt, error };
}
