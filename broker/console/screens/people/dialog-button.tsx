// A button that opens one of the dialogs of people, which the address then names.
import type { ReactNode } from 'react';
import { Button } from 'react-aria-components';
import type { PeopleDialog } from '../../state/people-view.ts';
import { usePeopleDialog } from './use-people.ts';

interface DialogButtonProps {
  readonly name: PeopleDialog;
  readonly className: string;
  /** What it is about, where the text alone does not say so. */
  readonly label?: string;
  /** The session that the dialog is about. */
  readonly session?: string;
  readonly children: ReactNode;
}

export function DialogButton({ name, className, label, session, children }: DialogButtonProps) {
  const dialog = usePeopleDialog();
  return (
    <Button
      className={className}
      aria-haspopup="dialog"
      {...(label === undefined ? {} : { 'aria-label': label })}
      onPress={() => dialog.open(name, session)}
    >
      {children}
    </Button>
  );
}
