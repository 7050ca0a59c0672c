// The one-time code, asked for once the service wants one besides the password: of the login, and of the one of an ended session.
import { type RefObject, useRef, useState } from 'react';
import { Input, Label, Text, TextField } from 'react-aria-components';
import { useWords } from '../../components/use.ts';
import { ServiceError } from '../../service/call.ts';
import type { Credentials, Entry } from '../../service/sign-in.ts';

interface CodeStep {
  readonly isNeeded: boolean;
  readonly input: RefObject<HTMLInputElement | null>;
  entryOf(credentials: Credentials): Entry;
  /** After a sign-in that failed: asks for the code, or selects what was wrong. */
  failed(thrown: Error, entry: Entry): void;
  /** Another user or password: whether it needs a code is not known. */
  forget(): void;
}

export function useCodeStep(password: RefObject<HTMLInputElement | null>): CodeStep {
  const input = useRef<HTMLInputElement>(null);
  const [isNeeded, setNeeded] = useState(false);
  return {
    isNeeded,
    input,
    entryOf: (credentials) =>
      isNeeded
        ? { kind: 'totp', ...credentials, code: input.current?.value ?? '' }
        : { kind: 'password', ...credentials },
    failed(thrown, { kind }) {
      if (thrown instanceof ServiceError && thrown.code === 'code_needed') setNeeded(true);
      else if (kind === 'totp') input.current?.select();
      else password.current?.select();
    },
    forget: () => setNeeded(false),
  };
}

/** Recovery codes have letters, so that the keyboard is no number pad. */
export function CodeField({ input }: { readonly input: RefObject<HTMLInputElement | null> }) {
  const { login } = useWords();
  return (
    <TextField
      className="field"
      name="code"
      isRequired
      autoComplete="one-time-code"
      maxLength={32}
      dir="ltr"
      autoFocus
    >
      <Label>{login.code}</Label>
      <Input className="input mono" ref={input} spellCheck={false} />
      <Text slot="description" className="hint">
        {login.codeHint}
      </Text>
    </TextField>
  );
}
