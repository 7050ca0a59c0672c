// Changes of which one is sent at a time.
import {
  type DefaultError,
  type MutationKey,
  type UseMutationOptions,
  useIsMutating,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';

type SendingOptions<A, C> = Omit<UseMutationOptions<A, DefaultError, C>, 'mutationKey'> & {
  readonly mutationKey: MutationKey;
};

/** A mutation that does not begin while one of its key is on its way, wherever that began. */
export function useSending<A, C>(options: SendingOptions<A, C>) {
  const queries = useQueryClient();
  const { mutationKey } = options;
  const { mutate, mutateAsync, error, isSuccess, isPending, submittedAt, variables, reset } =
    useMutation(options);
  // Two presses come faster than the second is drawn.
  const isFree = (): boolean => queries.isMutating({ mutationKey }) === 0;
  return {
    /** Also while one is on its way that this component has forgotten or did not begin. */
    isBusy: useIsMutating({ mutationKey }) > 0,
    isSuccess,
    /** When the request left that has no answer, ms of this computer; null: none is on its way from here. */
    sentMs: isPending ? submittedAt : null,
    /** What was sent last. */
    variables,
    failure: error,
    reset,
    send(...change: Parameters<typeof mutate>): void {
      if (isFree()) mutate(...change);
    },
    /** @returns rejected also where one was on its way. */
    sendAsync: (change: C): Promise<A> =>
      isFree() ? mutateAsync(change) : Promise.reject(new Error('Another change is under way')),
  };
}
