// A dialog with one form: the consequence first, then what is needed, the focus on Cancel, and the button that names what it does.
import type { UseMutationResult } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { Button, Dialog, Form, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { formWords } from '../../../build/words/form.ts';
import { connection } from '../service/live.ts';
import { ActionButton } from './action-button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { useValue, useWords } from './use.ts';
import { useFailure } from './view.tsx';

interface FormDialogProps {
  readonly icon: IconName;
  readonly title: string;
  /** What the button does: verb and object. Null: there is nothing left to do, and the dialog can be closed only. */
  readonly action: string | null;
  /** Something is missing, or a change is under way. */
  readonly isOff: boolean;
  readonly error: Error | null;
  /** The first field has the focus at the beginning, and not Cancel: for what is filled in and harms nothing. */
  readonly beginsInField?: boolean;
  readonly children: ReactNode;
  submit(): void;
  close(): void;
}

function Content(props: FormDialogProps) {
  const { icon, title, action, isOff, error, beginsInField = false, children, submit, close } = props;
  const { common, forms, stream } = useWords(formWords);
  const { state } = useValue(connection);
  const isDown = state !== 'live';
  const failure = useFailure(error, forms.failed);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (!isOff && !isDown && action !== null) submit();
  };
  return (
    <Form onSubmit={send} validationBehavior="aria">
      <header>
        <Icon name={icon} isLarge />
        <Heading slot="title">{title}</Heading>
      </header>
      <div className="body">
        {children}
        {failure}
        {isDown ? <p className="muted">{stream.commandsOff}</p> : null}
      </div>
      <footer>
        <Button className="button secondary" onPress={close} autoFocus={!beginsInField}>
          {action === null ? common.close : common.cancel}
        </Button>
        {action === null ? null : (
          <ActionButton className="button primary" type="submit" isOff={isOff || isDown}>
            {action}
          </ActionButton>
        )}
      </footer>
    </Form>
  );
}

/** @param isOpen the content begins anew each time it opens. */
export function FormDialog({ isOpen, ...props }: FormDialogProps & { readonly isOpen: boolean }) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      onOpenChange={(wanted) => (wanted ? undefined : props.close())}
    >
      <Modal className="modal">
        <Dialog className="dialog">
          <Content {...props} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ChangeDialogProps extends Omit<FormDialogProps, 'isOff' | 'error' | 'submit'> {
  readonly isOpen: boolean;
  readonly isOff?: boolean;
  /** Sent by the button. */
  readonly change: Pick<UseMutationResult<unknown, Error, void>, 'isPending' | 'error' | 'mutate' | 'reset'>;
}

/** Asks for one change: it can be sent once at a time, and what became of it is forgotten when the dialog closes. */
export function ChangeDialog({ change, isOff = false, close, ...props }: ChangeDialogProps) {
  return (
    <FormDialog
      {...props}
      isOff={isOff || change.isPending}
      error={change.error}
      submit={() => change.mutate()}
      close={() => {
        change.reset();
        close();
      }}
    />
  );
}
