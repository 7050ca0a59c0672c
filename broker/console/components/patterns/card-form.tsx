// A form that stands in its card: its fields, what became of the last change, and the buttons that discard and save. A change whose connection is down waits.
import type { FormEvent, ReactNode } from 'react';
import { Button, Form } from 'react-aria-components';
import { formWords } from '../../../../build/words/form.ts';
import { connection } from '../../service/live.ts';
import { ActionButton } from '../action-button.tsx';
import { useValue, useWords } from '../use.ts';

interface CardFormProps {
  /** There is nothing to save, it may not be saved, or a change is on its way. */
  readonly isOff: boolean;
  /** Of the button; without it, that of a form of changes. */
  readonly action?: string;
  /** Where the change stands; without a connection that is said instead. */
  readonly status: string;
  readonly failure: ReactNode;
  readonly children: ReactNode;
  readonly discard?: { readonly text: string; run(): void } | null;
  submit(): void;
}

export function CardForm({
  isOff,
  status,
  failure,
  children,
  discard = null,
  submit,
  action,
}: CardFormProps) {
  const { forms, stream } = useWords(formWords);
  const isDown = useValue(connection).state !== 'live';
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (!isOff && !isDown) submit();
  };
  return (
    <Form className="card-body stack" onSubmit={send} validationBehavior="aria">
      {children}
      {failure}
      <div className="row wrap">
        <span className="muted" role="status">
          {isDown ? stream.commandsOff : status}
        </span>
        <span className="row wrap push">
          {discard === null ? null : (
            <Button className="button secondary" onPress={discard.run}>
              {discard.text}
            </Button>
          )}
          <ActionButton className="button primary" type="submit" isOff={isOff || isDown}>
            {action ?? forms.change}
          </ActionButton>
        </span>
      </div>
    </Form>
  );
}
