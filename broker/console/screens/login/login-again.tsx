// The way back from the login provider: proves the login at the service, and goes on where the user was.
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { cutWords } from '../../../../build/words/cut.ts';
import { failureText } from '../../components/failure.ts';
import { Loading, Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { finishLoginAgain } from '../../service/login-again.ts';

export function LoginAgainScreen() {
  const words = useWords(cutWords);
  const { order: texts } = words;
  const navigate = useNavigate();
  const { mutate, isIdle, error } = useMutation({
    mutationFn: finishLoginAgain,
    onSuccess: (next) => void navigate({ href: next, replace: true }),
  });
  useEffect(() => {
    if (isIdle) mutate();
  }, [isIdle, mutate]);
  const failure = error === null ? null : failureText(error, words);
  return (
    <main className="page" id="main">
      <h1>{texts.loginAgainTitle}</h1>
      {failure === null ? (
        <>
          <p className="muted">{texts.loginAgainGoes}</p>
          <Loading rows={2} />
        </>
      ) : (
        <Notice tone="look" icon="triangle-alert" role="alert" title={failure.title}>
          {failure.hint} <Link to="/live">{texts.loginAgainBack}</Link>
        </Notice>
      )}
    </main>
  );
}
