// Reports by mail as the service has them, and the dialog that the address names.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';
import type { ScheduleDialog } from '../../state/reports/schedule-address.ts';
import { without } from '../../state/search.ts';

/** How often the list is read anew while it is shown, ms: also while a report is being made. */
const anewMs = { still: 10_000, asked: 2000 } as const;

export function useSchedules() {
  const role = useRole();
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['schedules'],
    queryFn: ({ signal }) => call('getReportSchedules', { signal }),
    enabled: role === 'operator' || role === 'admin',
    refetchInterval: ({ state }) =>
      state.data?.schedules.some(({ isAsked, lastResult }) => isAsked || isUnderWay(lastResult)) === true
        ? anewMs.asked
        : anewMs.still,
  });
  return { schedules: data?.schedules, canMail: data?.canMail, readMs: dataUpdatedAt, error };
}

const isUnderWay = (result: { readonly mails: readonly { readonly state: string }[] } | null): boolean =>
  result?.mails.some(({ state }) => state === 'pending') === true;

/** Reads them anew after a change. */
export function useSchedulesChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(() => queries.invalidateQueries({ queryKey: ['schedules'] }), [queries]);
}

export function useScheduleDialog() {
  const navigate = useNavigate({ from: '/reports/mail' });
  const { open } = useSearch({ from: '/shell/reports/mail' });
  return {
    isOpen: (name: ScheduleDialog): boolean => open === name,
    open: (name: ScheduleDialog) =>
      void navigate({ search: (before) => ({ ...before, open: name }), replace: true }),
    close: () => void navigate({ search: (before) => without(before, 'open'), replace: true }),
  };
}
