// The field of a password that is known to a password manager, for the login and the one of an ended session.
import type { RefObject } from 'react';
import { Input, Label, TextField } from 'react-aria-components';
import { useWords } from '../../components/use.ts';

interface PasswordFieldProps {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly hasFocus: boolean;
  onChange(): void;
}

export function PasswordField({ input, hasFocus, onChange }: PasswordFieldProps) {
  const { login } = useWords();
  return (
    <TextField
      className="field"
      name="password"
      type="password"
      isRequired
      autoComplete="current-password"
      autoFocus={hasFocus}
      onChange={onChange}
    >
      <Label>{login.password}</Label>
      <Input className="input" ref={input} />
    </TextField>
  );
}
