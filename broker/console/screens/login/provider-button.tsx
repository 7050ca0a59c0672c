// The button that goes to the login provider; only where the service has one.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Button } from 'react-aria-components';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { goToProvider } from '../../service/provider-login.ts';
import { Fault } from './fault.tsx';

export function ProviderButton({
  next,
  isDisabled,
}: {
  readonly next: string | undefined;
  readonly isDisabled: boolean;
}) {
  const { login } = useWords();
  const { data } = useQuery({
    queryKey: ['login-ways'],
    queryFn: ({ signal }) => call('loginWays', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const way = useMutation({ mutationFn: goToProvider });
  const { reset } = way;
  useEffect(() => {
    // A page that the browser kept and shows again after "back" can begin anew.
    const begin = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) reset();
    };
    addEventListener('pageshow', begin);
    return () => removeEventListener('pageshow', begin);
  }, [reset]);
  const provider = data?.provider ?? '';
  if (provider === '') return null;
  return (
    <>
      <p className="or">{login.or}</p>
      {way.error === null ? null : <Fault thrown={way.error} way="provider" />}
      <Button
        className="button secondary full"
        isDisabled={isDisabled}
        isPending={way.isPending || way.isSuccess}
        onPress={() => way.mutate(next)}
      >
        <span className="cut-off">
          {way.isPending || way.isSuccess ? login.toProvider : login.provider({ host: provider })}
        </span>
      </Button>
    </>
  );
}
