// The account as the service has it, and its change.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Body } from '../../api/operations.ts';
import { useValue } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';
import { readFigures } from '../../shell/preferences.ts';
import type { Account } from '../../state/account/account-view.ts';

/** State and limits, which every user sees. */
export const useFigures = () =>
  useQuery({ queryKey: ['account', 'figures'], queryFn: ({ signal }) => readFigures(signal) });

/** Settings; for administrators only. */
export const useAccount = () =>
  useQuery({ queryKey: ['account', 'settings'], queryFn: ({ signal }) => call('getAccount', { signal }) });

/** Changes the account. What the service answered is what is shown then. */
export function useChangeAccount(onDone: () => void) {
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const { isBusy, isSuccess, failure, reset, send } = useSending({
    mutationKey: ['account-change'],
    mutationFn: (body: Body<'updateAccount'>) => call('updateAccount', { body }),
    onSuccess: (account: Account) => {
      queries.setQueryData(['account', 'settings'], account);
      onDone();
    },
    onSettled: () =>
      Promise.all(['account', 'orders'].map((name) => queries.invalidateQueries({ queryKey: [name] }))),
  });
  return { isDown: state !== 'live', isBusy, isSaved: isSuccess, failure, reset, run: send };
}
