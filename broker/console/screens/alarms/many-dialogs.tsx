// The dialogs of the picked alarms: assignment to a user, and closing with a reason.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { alarmWords } from '../../../../build/words/alarm.ts';
import { manyWords } from '../../../../build/words/many.ts';
import type { Alarm, CloseReason } from '../../api/operations.ts';
import { FormField } from '../../components/fields/form-field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { codeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { noteMost } from '../../state/alarm-view.ts';
import { Choices, closeReasons } from './dialogs.tsx';
import type { ManyAlarms } from './use-many-alarms.ts';

/** Users that an alarm can be assigned to; null for a role that may not list users. */
function useOwners(role: string): readonly string[] | null {
  const { data } = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => call('getAllUsers', { signal }),
    enabled: role === 'admin',
    staleTime: 60_000,
  });
  if (data === undefined) return null;
  return data.users
    .filter(({ roleID, isActive }) => roleID !== 'viewer' && isActive)
    .map(({ userID }) => userID);
}

function Subjects({ alarms }: { readonly alarms: readonly Alarm[] }) {
  const words = useWords();
  return (
    <div className="scroll import-lines" tabIndex={0} role="region" aria-label={words.alarms.title}>
      <ul>
        {alarms.map((alarm) => (
          <li key={alarm.alarmID}>
            {codeText(alarm.statusCode, words)} · <bdi>{alarm.deviceDisplayName}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface DialogProps {
  readonly many: ManyAlarms;
  readonly alarms: readonly Alarm[];
  readonly role: string;
}

function AssignDialog({ many, alarms, role }: DialogProps) {
  const { many: words, alarms: one } = useWords(manyWords);
  const { alarms: texts } = words;
  const owners = useOwners(role);
  const [userID, setUser] = useState('');
  const wanted = userID.trim();
  return (
    <FormDialog
      isOpen
      icon="user-check"
      title={texts.assignTitle({ count: alarms.length })}
      action={wanted === '' ? one.assign : texts.assignAction({ count: alarms.length, user: wanted })}
      isOff={wanted === '' || many.isBusy}
      error={many.failure}
      submit={() => many.run({ action: 'assign', alarms, userID: wanted })}
      close={many.dismiss}
    >
      <p>{texts.assignText}</p>
      <Subjects alarms={alarms} />
      {owners === null ? (
        <FormField
          label={texts.user}
          hint={texts.userHint}
          value={userID}
          most={64}
          isRequired
          onChange={setUser}
        />
      ) : (
        <Choice
          label={texts.user}
          hint={texts.userHint}
          placeholder={texts.chooseUser}
          chosen={userID === '' ? null : userID}
          choices={owners.map((value) => ({ value, text: value }))}
          onChoose={setUser}
        />
      )}
    </FormDialog>
  );
}

function CloseDialog({ many, alarms }: Omit<DialogProps, 'role'>) {
  const {
    alarmDialogs: texts,
    alarms: { reasons },
    many: words,
  } = useWords(alarmWords, manyWords);
  const [reason, setReason] = useState<CloseReason | null>(null);
  const [text, setText] = useState('');
  const needsText = reason === 'other';
  return (
    <FormDialog
      isOpen
      icon="circle-check"
      title={words.alarms.close({ count: alarms.length })}
      action={words.alarms.close({ count: alarms.length })}
      isOff={reason === null || (needsText && text.trim() === '') || many.isBusy}
      error={many.failure}
      submit={() => {
        if (reason !== null) many.run({ action: 'close', alarms, reason, text: text.trim() });
      }}
      close={many.dismiss}
    >
      <p>{texts.closeConsequence}</p>
      <Subjects alarms={alarms} />
      <Choices
        label={texts.reason}
        choices={closeReasons.map((value) => ({ value, text: reasons[value] }))}
        chosen={reason ?? ''}
        onChoose={(value) => setReason(closeReasons.find((one) => one === value) ?? null)}
      />
      <FormField
        label={texts.text}
        value={text}
        most={noteMost}
        hint={needsText && text.trim() === '' ? texts.textNeeded : undefined}
        isLong
        isRequired={needsText}
        onChange={setText}
      />
    </FormDialog>
  );
}

export function ManyAlarmsDialogs({ many, role }: { readonly many: ManyAlarms; readonly role: string }) {
  const { opened } = many;
  if (opened === null) return null;
  if (opened.kind === 'close') return <CloseDialog many={many} alarms={opened.alarms} />;
  return <AssignDialog many={many} alarms={opened.alarms} role={role} />;
}
