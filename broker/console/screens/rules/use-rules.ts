// Rules as the service has them, and the dialog that the address names.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { call } from '../../service/call.ts';
import type { RuleDialog } from '../../state/rules/rule-address.ts';
import { without } from '../../state/search.ts';

export function useRules() {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['rules'],
    queryFn: ({ signal }) => call('getRules', { signal }),
  });
  return { rules: data?.rules, readMs: dataUpdatedAt, error };
}

/** Reads the rules and their deliveries anew after a change. */
export function useRulesChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(async () => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['rules'] }),
      queries.invalidateQueries({ queryKey: ['deliveries'] }),
    ]);
  }, [queries]);
}

export function useRuleDialog() {
  const navigate = useNavigate({ from: '/rules' });
  const { open } = useSearch({ from: '/shell/rules' });
  return {
    isOpen: (name: RuleDialog): boolean => open === name,
    open: (name: RuleDialog) =>
      void navigate({ search: (before) => ({ ...before, open: name }), replace: true }),
    close: () => void navigate({ search: (before) => without(before, 'open'), replace: true }),
  };
}
