// A change that is asked for once more, with its consequence and the name of what it changes.
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import type { IconName } from '../../components/icon.tsx';
import type { PeopleDialog } from '../../state/people-view.ts';
import { usePeopleChanged, usePeopleDialog } from './use-people.ts';

interface AskProps {
  readonly name: PeopleDialog;
  readonly icon?: IconName;
  readonly title: string;
  readonly action: string;
  readonly children: ReactNode;
  /** Something is missing. */
  readonly isOff?: boolean;
  readonly beginsInField?: boolean;
  /** Sends the change. */
  run(): Promise<unknown>;
  /** When it is done; the dialog closes then. */
  onDone?(): void;
}

export function Ask({ name, icon = 'circle-alert', isOff = false, run, onDone, ...props }: AskProps) {
  const dialog = usePeopleDialog();
  const changed = usePeopleChanged();
  const sending = useMutation({
    mutationFn: run,
    // What holds a password is not kept.
    gcTime: 0,
    onSettled: changed,
    onSuccess: () => {
      dialog.close();
      onDone?.();
    },
  });
  return (
    <ChangeDialog
      {...props}
      isOpen={dialog.isOpen(name)}
      icon={icon}
      isOff={isOff}
      change={sending}
      close={dialog.close}
    />
  );
}
