// Users and groups as the service has them, and the dialog that the address names.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { call } from '../../service/call.ts';
import { useRole } from '../../service/role.ts';
import type { PeopleDialog } from '../../state/people-view.ts';
import { without } from '../../state/search.ts';

/** Undefined users: not read yet, or the reader is no administrator. */
export function useUsers() {
  const role = useRole();
  const { data, error } = useQuery({
    queryKey: ['people', 'users'],
    queryFn: ({ signal }) => call('getAllUsers', { signal }),
    enabled: role === 'admin',
  });
  return { users: data?.users, error };
}

/** Groups of the account; a user limited to groups gets those only. */
export function useGroups() {
  const { data, error, dataUpdatedAt } = useQuery({
    queryKey: ['people', 'groups'],
    queryFn: ({ signal }) => call('groups', { signal }),
  });
  return { groups: data?.groups, readMs: dataUpdatedAt, error };
}

/** Reads people anew after a change. */
export function usePeopleChanged(): () => Promise<void> {
  const queries = useQueryClient();
  return useCallback(async () => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['people'] }),
      queries.invalidateQueries({ queryKey: ['user'] }),
    ]);
  }, [queries]);
}

export function usePeopleDialog() {
  const navigate = useNavigate({ from: '/people' });
  const { open } = useSearch({ from: '/shell/people' });
  return {
    isOpen: (name: PeopleDialog): boolean => open === name,
    open: (name: PeopleDialog, session?: string) =>
      void navigate({
        search: (before) => ({ ...before, open: name, ...(session === undefined ? {} : { session }) }),
        replace: true,
      }),
    close: () =>
      void navigate({ search: (before) => without(without(before, 'open'), 'session'), replace: true }),
  };
}
