// Sends a change of a zone or route, one at a time. The screen shows what the service answered.
import { useQueryClient } from '@tanstack/react-query';
import { useValue } from '../../components/use.ts';
import { connection } from '../../service/live.ts';
import { useSending } from '../../service/sending.ts';

interface Changing<C> {
  /** Of the list that the change is about; it names the change too. */
  readonly queryKey: readonly string[];
  send(change: C): Promise<unknown>;
  /** After the list was read again. */
  onDone(change: C): void;
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
  const sending = useSending({
    mutationKey: ['change', ...queryKey],
    mutationFn: send,
    async onSuccess(_answer, change) {
      await queries.invalidateQueries({ queryKey });
      onDone(change);
    },
  });
  const { isBusy, failure, reset } = sending;
  return { isDown: state !== 'live', isBusy, failure, reset, run: sending.send };
}
