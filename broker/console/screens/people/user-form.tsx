// Form that creates or changes a user: id, names, role, and the groups whose devices the user may read.
import { useNavigate } from '@tanstack/react-router';
import { peopleWords } from '../../../../build/words/people.ts';
import {
  ActionDialog,
  Fields,
  groupOptions,
  optionsOf,
  useFields,
  useNewID,
} from '../../components/patterns/form.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import {
  everyDevice,
  type Group,
  passwordLeast,
  passwordMost,
  type Role,
  roles,
  type User,
} from '../../state/people-view.ts';
import { peopleChanges, useUsers } from './use-people.ts';

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

/** What differs from the user as it was read; of a new one all that is not empty. */
function textsOf(user: User | null, { name, email, phone, timeZone }: Draft) {
  const before = draftOf(user);
  return {
    ...(name === before.name ? {} : { userDisplayName: name }),
    ...(email === before.email ? {} : { userNotifyEmail: email }),
    ...(phone === before.phone ? {} : { contactPhone: phone }),
    ...(timeZone === before.timeZone || timeZone === '' ? {} : { timeZone }),
  };
}

function save(user: User | null, draft: Draft) {
  const { id, password, role } = draft;
  const [groups, texts] = [[...draft.groups], textsOf(user, draft)];
  if (user === null)
    return call('createUser', { body: { userID: id, password, roleID: role, groups, ...texts } });
  const hasSameGroups = groups.toSorted().join() === user.groups.toSorted().join();
  return call('updateUser', {
    body: {
      userID: user.userID,
      ...texts,
      ...(role === user.roleID ? {} : { roleID: role }),
      ...(hasSameGroups ? {} : { groups }),
    },
  });
}

/** A new password; what is too short is said once something is typed. */
export function usePasswordField(label: string, password: string) {
  const { fields } = useWords(peopleWords).people;
  return {
    name: 'password',
    label,
    type: 'password',
    autoComplete: 'new-password',
    hint: fields.passwordHint,
    fault: password === '' || password.length >= passwordLeast ? null : fields.passwordShort,
    most: passwordMost,
    isRequired: true,
  } as const;
}

interface UserFormProps {
  /** Null: a new one. */
  readonly user: User | null;
  readonly groups: readonly Group[] | undefined;
}

export function UserForm({ user, groups }: UserFormProps) {
  const { people: texts } = useWords(peopleWords);
  const { fields } = texts;
  const navigate = useNavigate();
  const [typed, put] = useFields(draftOf(user));
  const ids = useUsers().items?.map(({ userID }) => userID);
  const made = useNewID(typed, fields, user === null ? ids : []);
  const { draft } = made;
  const password = usePasswordField(fields.password, draft.password);
  const isNew = user === null;
  const isPerson = user?.hasPassword !== false;
  return (
    <ActionDialog
      icon="users"
      title={isNew ? texts.createTitle : texts.editTitle({ user: user.userID })}
      action={isNew ? texts.create : texts.editAction({ user: user.userID })}
      isOff={isNew && (!made.isReady || draft.password.length < passwordLeast)}
      beginsInField={isNew}
      changes={peopleChanges}
      run={() => save(user, draft)}
      onDone={() =>
        isNew ? void navigate({ to: '/people', search: { list: 'users', user: draft.id } }) : undefined
      }
    >
      <Fields
        of={[
          ...(isNew ? [...made.fields, password] : []),
          isPerson && {
            name: 'role',
            label: fields.role,
            options: optionsOf(roles, texts.roles),
            hint: texts.roleHints[draft.role],
          },
          isPerson && draft.role === 'admin' && <p className="muted">{texts.adminSeesAll}</p>,
          isPerson &&
            draft.role !== 'admin' && {
              name: 'groups',
              label: fields.groups,
              options: [{ value: everyDevice, text: texts.every }, ...groupOptions(groups)],
            },
          <p className="muted">{isPerson ? texts.grantHint : texts.ofProvider}</p>,
          !isNew && { name: 'name', label: fields.name, most: 128 },
          { name: 'email', label: fields.email, most: 254, type: 'email' },
          { name: 'phone', label: fields.phone, most: 32, type: 'tel' },
          { name: 'timeZone', label: fields.timeZone, most: 64, hint: fields.timeZoneHint },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}
