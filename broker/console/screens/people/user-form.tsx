// Form that creates or changes a user: id, names, role, and the groups whose devices the user may read.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { peopleWords } from '../../../../build/words/people.ts';
import { Checks } from '../../components/checks.tsx';
import { FormField } from '../../components/form-field.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { isID } from '../../state/device-view.ts';
import {
  everyDevice,
  type Group,
  passwordLeast,
  passwordMost,
  type Role,
  roles,
  type User,
} from '../../state/people-view.ts';
import { Choice } from '../cut/choice.tsx';
import { Ask } from './ask.tsx';

interface Draft {
  readonly id: string;
  readonly password: string;
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly timeZone: string;
  readonly role: Role;
  readonly groups: readonly string[];
}

const draftOf = (user: User | null): Draft => ({
  id: user?.userID ?? '',
  password: '',
  name: user?.userDisplayName ?? '',
  email: user?.userNotifyEmail ?? '',
  phone: user?.contactPhone ?? '',
  timeZone: user?.timeZone ?? '',
  role: user?.roleID ?? 'viewer',
  groups: user?.groups ?? [everyDevice],
});

function create({ id, password, name, email, phone, timeZone, role, groups }: Draft) {
  return call('createUser', {
    body: {
      userID: id,
      password,
      roleID: role,
      groups: [...groups],
      ...(name === '' ? {} : { userDisplayName: name }),
      ...(email === '' ? {} : { userNotifyEmail: email }),
      ...(phone === '' ? {} : { contactPhone: phone }),
      ...(timeZone === '' ? {} : { timeZone }),
    },
  });
}

/** Only what differs from the user as it was read. */
function change(user: User, { name, email, phone, timeZone, role, groups }: Draft) {
  return call('updateUser', {
    body: {
      userID: user.userID,
      ...(name === user.userDisplayName ? {} : { userDisplayName: name }),
      ...(email === user.userNotifyEmail ? {} : { userNotifyEmail: email }),
      ...(phone === user.contactPhone ? {} : { contactPhone: phone }),
      ...(timeZone === user.timeZone || timeZone === '' ? {} : { timeZone }),
      ...(role === user.roleID ? {} : { roleID: role }),
      ...(groups.toSorted().join() === user.groups.toSorted().join() ? {} : { groups: [...groups] }),
    },
  });
}

interface RightsFieldsProps {
  readonly draft: Draft;
  readonly groups: readonly Group[];
  onChange(change: Partial<Draft>): void;
}

function RightsFields({ draft, groups, onChange }: RightsFieldsProps) {
  const { people: texts } = useWords(peopleWords);
  const choices = [
    { value: everyDevice, text: texts.every },
    ...groups.map(({ groupID, groupDisplayName }) => ({ value: groupID, text: groupDisplayName })),
  ];
  return (
    <>
      <Choice
        label={texts.fields.role}
        choices={roles.map((value) => ({ value, text: texts.roles[value] }))}
        chosen={draft.role}
        hint={texts.roleHints[draft.role]}
        onChoose={(value) => onChange({ role: roles.find((one) => one === value) ?? 'viewer' })}
      />
      {draft.role === 'admin' ? (
        <p className="muted">{texts.adminSeesAll}</p>
      ) : (
        <Checks
          label={texts.fields.groups}
          choices={choices}
          chosen={draft.groups}
          onChoose={(chosen) => onChange({ groups: chosen })}
        />
      )}
    </>
  );
}

interface UserFormProps {
  readonly name: 'user-create' | 'user-edit';
  /** Null: a new one. */
  readonly user: User | null;
  readonly groups: readonly Group[];
}

export function UserForm({ name, user, groups }: UserFormProps) {
  const { people: texts, forms } = useWords(formWords, peopleWords);
  const { fields } = texts;
  const navigate = useNavigate();
  const [draft, setDraft] = useState(() => draftOf(user));
  const put = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }));
  const isNew = user === null;
  const isReady = !isNew || (isID(draft.id) && draft.password.length >= passwordLeast);
  const done = (): void => {
    if (!isNew) return;
    setDraft(draftOf(null));
    void navigate({ to: '/people', search: { list: 'users', user: draft.id } });
  };
  const texted = (['name', 'email', 'phone', 'timeZone'] as const).map((field) => (
    <FormField
      key={field}
      label={fields[field]}
      value={draft[field]}
      hint={field === 'timeZone' ? fields.timeZoneHint : undefined}
      most={field === 'email' ? 254 : field === 'phone' ? 32 : field === 'name' ? 128 : 64}
      type={field === 'email' ? 'email' : field === 'phone' ? 'tel' : 'text'}
      onChange={(value) => put({ [field]: value })}
    />
  ));
  return (
    <Ask
      name={name}
      icon="users"
      title={isNew ? texts.createTitle : texts.editTitle({ user: user.userID })}
      action={isNew ? texts.create : texts.editAction({ user: user.userID })}
      isOff={!isReady}
      beginsInField={isNew}
      run={() => (isNew ? create(draft) : change(user, draft))}
      onDone={done}
    >
      {isNew ? (
        <>
          <FormField
            label={fields.id}
            value={draft.id}
            hint={forms.idHint}
            fault={draft.id === '' || isID(draft.id) ? null : forms.idWrong}
            most={64}
            isRequired
            hasFocus
            onChange={(id) => put({ id })}
          />
          <FormField
            label={fields.password}
            type="password"
            autoComplete="new-password"
            value={draft.password}
            hint={fields.passwordHint}
            fault={
              draft.password === '' || draft.password.length >= passwordLeast ? null : fields.passwordShort
            }
            most={passwordMost}
            isRequired
            onChange={(password) => put({ password })}
          />
        </>
      ) : null}
      {user?.hasPassword === false ? (
        <p className="muted">{texts.ofProvider}</p>
      ) : (
        <>
          <RightsFields draft={draft} groups={groups} onChange={put} />
          <p className="muted">{texts.grantHint}</p>
        </>
      )}
      {texted}
    </Ask>
  );
}
