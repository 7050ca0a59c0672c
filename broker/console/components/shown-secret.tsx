// A secret that the service shows once: in a field that can be selected, with a button that copies it where the browser allows that.
import { useState } from 'react';
import { Button, Input, Label, TextArea, TextField } from 'react-aria-components';
import { formWords } from '../../../build/words/form.ts';
import { Icon } from './icon.tsx';
import { useWords } from './use.ts';

export function ShownSecret({ label, value }: { readonly label: string; readonly value: string }) {
  const { forms } = useWords(formWords);
  const [isCopied, setCopied] = useState(false);
  // Plain HTTP has no clipboard.
  const canCopy = window.isSecureContext;
  const lines = value.split('\n').length;
  return (
    <div className="secret">
      <TextField className="field" value={value} isReadOnly autoComplete="off" dir="ltr">
        <Label>{label}</Label>
        {lines > 1 ? (
          <TextArea className="input mono" rows={lines} wrap="off" spellCheck={false} />
        ) : (
          <Input
            className="input mono"
            onFocus={(event) => event.currentTarget.select()}
            spellCheck={false}
          />
        )}
      </TextField>
      {canCopy ? (
        <Button
          className="button secondary"
          aria-label={forms.copyOf({ name: label })}
          onPress={() => void navigator.clipboard.writeText(value).then(() => setCopied(true))}
        >
          <Icon name={isCopied ? 'circle-check' : 'copy'} />
          {isCopied ? forms.copied : forms.copy}
        </Button>
      ) : null}
      <span className="hidden" role="status">
        {isCopied ? forms.copied : ''}
      </span>
    </div>
  );
}
