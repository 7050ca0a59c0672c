// A field of a form: its name above, help below, and what is wrong below that, in words.
import { FieldError, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { Icon } from '../icon.tsx';

interface FormFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint?: string | undefined;
  /** What is wrong with the value; null: nothing. */
  readonly fault?: string | null;
  readonly most: number;
  /** What holds while nothing is typed. */
  readonly placeholder?: string;
  readonly type?: 'text' | 'password' | 'email' | 'tel';
  readonly autoComplete?: string;
  readonly isLong?: boolean;
  readonly isRequired?: boolean;
  readonly hasFocus?: boolean;
  onChange(value: string): void;
}

export function FormField({ label, value, hint, fault = null, most, onChange, ...rest }: FormFieldProps) {
  const {
    placeholder = '',
    type = 'text',
    autoComplete = 'off',
    isLong = false,
    isRequired = false,
    hasFocus = false,
  } = rest;
  return (
    <TextField
      className="field"
      value={value}
      onChange={onChange}
      maxLength={most}
      type={type}
      autoComplete={autoComplete}
      isRequired={isRequired}
      autoFocus={hasFocus}
      isInvalid={fault !== null}
      validationBehavior="aria"
    >
      <Label>{label}</Label>
      {isLong ? (
        <TextArea className="input" rows={3} />
      ) : (
        <Input className="input" placeholder={placeholder} />
      )}
      {hint === undefined ? null : (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      {fault === null ? null : (
        <FieldError className="fault">
          <Icon name="circle-alert" />
          {fault}
        </FieldError>
      )}
    </TextField>
  );
}
