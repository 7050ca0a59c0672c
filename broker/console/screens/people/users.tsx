// The users of the account, for administrators: the list, and of one what it may do and why not, its changes, its sessions and tokens.
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { peopleWords } from '../../../../build/words/people.ts';
import { Icon } from '../../components/icon.tsx';
import { ItemLink } from '../../components/patterns/address.tsx';
import { Actions, OrNone, Pairs } from '../../components/patterns/detail.tsx';
import { ActionDialog, Fields, useFields } from '../../components/patterns/form.tsx';
import { byText, ListDetail } from '../../components/patterns/list-detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Badge, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { session } from '../../service/session.ts';
import {
  everyDevice,
  type Group,
  passwordLeast,
  type Right,
  rightsOf,
  type User,
} from '../../state/people-view.ts';
import { Sessions } from './sessions.tsx';
import { peopleChanges, useGroups, useUsers } from './use-people.ts';
import { UserForm, usePasswordField } from './user-form.tsx';

function UserBadges({ user }: { readonly user: User }) {
  const { states } = useWords(peopleWords).people;
  return (
    <span className="row wrap">
      <Badge icon={user.isActive ? 'circle-check' : 'ban'} tone={user.isActive ? 'ok' : 'look'}>
        {user.isActive ? states.active : states.suspended}
      </Badge>
      {user.isConfirmed || user.roleID === 'viewer' ? null : (
        <Badge icon="hourglass" tone="look">
          {states.unconfirmed}
        </Badge>
      )}
      {user.hasPassword ? null : <Badge icon="link">{states.provider}</Badge>}
    </span>
  );
}

function useReason(user: User): (right: Right) => string {
  const { reasons, roles } = useWords(peopleWords).people;
  return ({ reason }) => {
    if (reason === 'groups')
      return reasons.groups({ groups: user.groups.filter((one) => one !== everyDevice).join(', ') });
    if (reason === 'role') return reasons.role({ role: roles[user.roleID] });
    if (reason === 'unconfirmed') return reasons.unconfirmed({ by: user.grantedBy });
    return reasons[reason];
  };
}

function Rights({ user }: { readonly user: User }) {
  const { people: texts } = useWords(peopleWords);
  const reasonOf = useReason(user);
  return (
    <>
      <h3>{texts.rights}</h3>
      <ul className="rights">
        {rightsOf(user).map((right) => (
          <li key={right.name} data-right={right.name} data-allowed={right.isAllowed}>
            <span className={right.isAllowed ? 'tick' : 'cross'}>
              <Icon
                name={right.isAllowed ? 'circle-check' : 'circle-x'}
                label={right.isAllowed ? texts.yes : texts.no}
              />
            </span>
            <div>
              {texts.rightNames[right.name]}
              <small>{reasonOf(right)}</small>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

function NewPassword({ userID }: Pick<User, 'userID'>) {
  const { people: texts } = useWords(peopleWords);
  const [draft, put] = useFields({ password: '' });
  const { password } = draft;
  return (
    <ActionDialog
      icon="lock"
      title={texts.password.title({ user: userID })}
      action={texts.password.action({ user: userID })}
      isOff={password.length < passwordLeast}
      changes={peopleChanges}
      run={() => call('updateUser', { body: { userID, password } })}
    >
      <p>{texts.password.text({ user: userID })}</p>
      <Fields of={[usePasswordField(texts.fields.password, password)]} draft={draft} onChange={put} />
      <p className="muted">{texts.grantHint}</p>
    </ActionDialog>
  );
}

interface UserDetailProps {
  readonly user: User;
  readonly groups: readonly Group[] | undefined;
}

function UserActions({ user, groups }: UserDetailProps) {
  const { people: texts } = useWords(peopleWords);
  const navigate = useNavigate();
  const { userID, isActive } = user;
  const isOwn = userID === useValue(session)?.userID;
  const { confirm, access, delete: deletion } = texts;
  const of = { user: userID };
  const accessTitle = isActive ? access.suspendTitle(of) : access.admitTitle(of);
  return (
    <Actions
      of={[
        { name: 'user-edit', text: texts.edit, dialog: <UserForm user={user} groups={groups} /> },
        user.isConfirmed || user.roleID === 'viewer'
          ? null
          : {
              name: 'user-confirm',
              text: confirm.open,
              dialog: (
                <ActionDialog
                  icon="user-check"
                  title={confirm.title(of)}
                  action={confirm.action(of)}
                  changes={peopleChanges}
                  run={() => call('confirmUser', { body: { userID } })}
                >
                  <p>{confirm.text(of)}</p>
                </ActionDialog>
              ),
            },
        isOwn || !user.hasPassword
          ? null
          : { name: 'user-password', text: texts.password.open, dialog: <NewPassword userID={userID} /> },
        isOwn
          ? null
          : {
              name: 'user-access',
              text: isActive ? access.suspend : access.admit,
              dialog: (
                <ActionDialog
                  title={accessTitle}
                  action={accessTitle}
                  changes={peopleChanges}
                  run={() => call('updateUser', { body: { userID, isActive: !isActive } })}
                >
                  <p>{isActive ? access.suspendText(of) : access.admitText(of)}</p>
                  {isActive ? null : <p className="muted">{texts.grantHint}</p>}
                </ActionDialog>
              ),
            },
        isOwn
          ? null
          : {
              name: 'user-delete',
              text: deletion.open,
              className: 'button',
              dialog: (
                <ActionDialog
                  title={deletion.title(of)}
                  action={deletion.action(of)}
                  changes={peopleChanges}
                  run={() => call('deleteUser', { body: { userID } })}
                  onDone={() => void navigate({ to: '/people', search: { list: 'users' }, replace: true })}
                >
                  <p>{deletion.text(of)}</p>
                </ActionDialog>
              ),
            },
      ]}
    />
  );
}

function UserDetail(props: UserDetailProps) {
  const { user } = props;
  const { people: texts } = useWords(peopleWords);
  const { fields } = texts;
  const head = (
    <span className="push">
      <UserBadges user={user} />
    </span>
  );
  return (
    <aside className="stack">
      <Card title={user.userID} head={head}>
        <Pairs
          rows={[
            [fields.name, user.userDisplayName],
            [fields.role, texts.roles[user.roleID]],
            [fields.email, <OrNone>{user.userNotifyEmail}</OrNone>],
            [fields.phone, <OrNone>{user.contactPhone}</OrNone>],
            [fields.timeZone, user.timeZone],
            [texts.created, <Time at={user.createdOn} />],
          ]}
        />
        <Rights user={user} />
        <UserActions {...props} />
      </Card>
      <Sessions userID={user.userID} />
    </aside>
  );
}

export function Users() {
  const { people: texts } = useWords(peopleWords);
  const { user: selected = null } = useSearch({ from: '/shell/people' });
  const users = useUsers();
  const { items: groups } = useGroups();
  const ownID = useValue(session)?.userID;
  const sightOf = ({ roleID, groups: of }: User): string =>
    roleID === 'admin' || of.includes(everyDevice) ? texts.every : of.join(', ') || texts.noDevice;
  const nameOf = ({ userID, userDisplayName: name }: User): ReactNode => (
    <ItemLink
      search={{ list: 'users', user: userID }}
      isChosen={userID === selected}
      note={`${name === userID ? '' : name} ${userID === ownID ? `(${texts.you})` : ''}`}
    >
      {userID}
    </ItemLink>
  );
  const { columns } = texts;
  return (
    <ListDetail
      title={texts.lists.users}
      list={users}
      empty={{ icon: 'users', title: texts.pickUser }}
      create={{ name: 'user-create', text: texts.create, form: <UserForm user={null} groups={groups} /> }}
      caption={texts.caption}
      columns={[
        { name: columns.user, cell: nameOf, order: byText(({ userID }) => userID) },
        { name: columns.state, isBare: true, cell: (user) => <UserBadges user={user} /> },
        {
          name: columns.role,
          cell: ({ roleID }) => texts.roles[roleID],
          order: byText(({ roleID }) => texts.roles[roleID]),
        },
        { name: columns.groups, cell: sightOf },
      ]}
      keyOf={({ userID }) => userID}
      selected={selected}
      none={{ label: texts.rights, pick: texts.pickUser, gone: texts.gone }}
      detail={(user) => <UserDetail key={user.userID} user={user} groups={groups} />}
    />
  );
}
