// Sends a change of a zone or route, one at a time. The screen shows what the service answered.
import { useIsMutating, useMutation, useQueryClient } from '@tanstack/react-query';
import { useValue } from '../../components/use.ts';
import { connection } from '../../service/live.ts';

interface Changing<C> {
  /** Of the list that the change is about; it names the change too. */
  readonly queryKey: readonly string[];
  send(change: C): Promise<unknown>;
  /** After the list was read anew. */
  onDone(): void;
}

export interface Changes<C> {
  /** The stream is down: what is shown may be old, so no change is offered. */
  readonly isDown: boolean;
  readonly isBusy: boolean;
  readonly failure: Error | null;
  reset(): void;
  run(change: C): void;
}

export function useChange<C>({ queryKey, send, onDone }: Changing<C>): Changes<C> {
  const queries = useQueryClient();
  const { state } = useValue(connection);
  const mutationKey = ['change', ...queryKey];
  const sending = useMutation({
    mutationKey,
    mutationFn: send,
    async onSuccess() {
      await queries.invalidateQueries({ queryKey });
      onDone();
    },
  });
  return {
    isDown: state !== 'live',
    // Also while one that the form has forgotten is read back.
    isBusy: useIsMutating({ mutationKey }) > 0,
    failure: sending.error,
    reset: sending.reset,
    // Two presses come faster than the second is drawn.
    run: (change: C): void => {
      if (queries.isMutating({ mutationKey }) === 0) sending.mutate(change);
    },
  };
}
