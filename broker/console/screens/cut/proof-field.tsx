// What proves the person again before a cut, an unlock or an approval, where the account asks for it: the password, or for users of the login provider
// a login made anew. A password is pasted and filled in by managers as anywhere; it is kept nowhere.
import { useMutation } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { cutWords } from '../../../../build/words/cut.ts';
import { failureText } from '../../components/failure.ts';
import { Icon } from '../../components/icon.tsx';
import { spanText } from '../../components/texts.tsx';
import { useNow, useValue, useWords } from '../../components/use.ts';
import { FailureNotice } from '../../components/view.tsx';
import { beginLoginAgain, loginProof } from '../../service/login-again.ts';
import type { Relay } from '../../state/orders/cut-view.ts';

export interface PersonProof {
  readonly kind: 'none' | 'password' | 'login';
  /** What the request carries; null while it is missing. */
  readonly secret: string | null;
  readonly password: string;
  setPassword(text: string): void;
  /** After an answer: a login is used up by the request that carried it, and a password stays only after a refusal. */
  answered(isDone: boolean): void;
}

/** @param hasPassword null: not known yet. */
export function usePersonProof(isNeeded: boolean, hasPassword: boolean | null): PersonProof {
  const [password, setPassword] = useState('');
  const proof = useValue(loginProof);
  const now = useNow();
  const kind = !isNeeded ? 'none' : hasPassword === false ? 'login' : 'password';
  const login = proof !== null && proof.expires > now ? proof.secret : null;
  return {
    kind,
    secret: kind === 'none' ? '' : kind === 'login' ? login : password === '' ? null : password,
    password,
    setPassword,
    answered(isDone) {
      if (isDone) setPassword('');
      loginProof.set(null);
    },
  };
}

function LoginAgain() {
  const words = useWords(cutWords);
  const { order: texts } = words;
  const router = useRouter();
  const proof = useValue(loginProof);
  const now = useNow();
  const begin = useMutation({ mutationFn: () => beginLoginAgain(router.state.location.href) });
  const failure = begin.error === null ? null : failureText(begin.error, words);
  return (
    <div className="field">
      <span className="label">{texts.loginAgain}</span>
      {proof !== null && proof.expires > now ? (
        <p className="row" role="status">
          <span className="tick">
            <Icon name="circle-check" />
          </span>
          {texts.loginAgainDone({ span: spanText(proof.expires - now, words) })}
        </p>
      ) : (
        <Button className="button secondary" isPending={begin.isPending} onPress={() => begin.mutate()}>
          <Icon name="lock" />
          {texts.loginAgain}
        </Button>
      )}
      <small>{texts.loginAgainHint}</small>
      <FailureNotice failure={failure} />
    </div>
  );
}

const passwordMost = 256;

interface ProofFieldProps {
  readonly proof: PersonProof;
  /** What it is asked for. */
  readonly relay: Relay;
}

export function ProofField({ proof, relay }: ProofFieldProps) {
  const { order: texts, orders } = useWords(cutWords);
  if (proof.kind === 'none') return null;
  if (proof.kind === 'login') return <LoginAgain />;
  return (
    <TextField
      className="field"
      type="password"
      autoComplete="current-password"
      value={proof.password}
      onChange={proof.setPassword}
      maxLength={passwordMost}
    >
      <Label>{texts.password}</Label>
      <Input className="input" />
      <small>{orders[relay].passwordHint}</small>
    </TextField>
  );
}
