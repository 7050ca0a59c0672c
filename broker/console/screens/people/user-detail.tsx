// One user: what it may do and why not, its changes, its sessions and tokens.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { peopleWords } from '../../../../build/words/people.ts';
import { FormField } from '../../components/form-field.tsx';
import { Icon } from '../../components/icon.tsx';
import { Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { session } from '../../service/session.ts';
import {
  everyDevice,
  type Group,
  passwordLeast,
  passwordMost,
  type Right,
  rightsOf,
  type User,
} from '../../state/people-view.ts';
import { Ask } from './ask.tsx';
import { DialogButton } from './dialog-button.tsx';
import { Sessions } from './sessions.tsx';
import { UserBadges } from './user-badges.tsx';
import { UserForm } from './user-form.tsx';

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

function NewPassword({ user: { userID } }: { readonly user: User }) {
  const { people: texts } = useWords(peopleWords);
  const [password, setPassword] = useState('');
  const isShort = password !== '' && password.length < passwordLeast;
  return (
    <Ask
      name="user-password"
      icon="lock"
      title={texts.password.title({ user: userID })}
      action={texts.password.action({ user: userID })}
      isOff={password.length < passwordLeast}
      run={() => call('updateUser', { body: { userID, password } })}
      onDone={() => setPassword('')}
    >
      <p>{texts.password.text({ user: userID })}</p>
      <FormField
        label={texts.fields.password}
        type="password"
        autoComplete="new-password"
        value={password}
        hint={texts.fields.passwordHint}
        fault={isShort ? texts.fields.passwordShort : null}
        most={passwordMost}
        isRequired
        onChange={setPassword}
      />
      <p className="muted">{texts.grantHint}</p>
    </Ask>
  );
}

function Changes({ user }: { readonly user: User }) {
  const { people: texts } = useWords(peopleWords);
  const navigate = useNavigate();
  const { userID, isActive } = user;
  const { confirm, access } = texts;
  return (
    <>
      <Ask
        name="user-confirm"
        icon="user-check"
        title={confirm.title({ user: userID })}
        action={confirm.action({ user: userID })}
        run={() => call('confirmUser', { body: { userID } })}
      >
        <p>{confirm.text({ user: userID })}</p>
      </Ask>
      <Ask
        name="user-access"
        title={isActive ? access.suspendTitle({ user: userID }) : access.admitTitle({ user: userID })}
        action={isActive ? access.suspendTitle({ user: userID }) : access.admitTitle({ user: userID })}
        run={() => call('updateUser', { body: { userID, isActive: !isActive } })}
      >
        <p>{isActive ? access.suspendText({ user: userID }) : access.admitText({ user: userID })}</p>
        {isActive ? null : <p className="muted">{texts.grantHint}</p>}
      </Ask>
      <Ask
        name="user-delete"
        title={texts.delete.title({ user: userID })}
        action={texts.delete.action({ user: userID })}
        run={() => call('deleteUser', { body: { userID } })}
        onDone={() => void navigate({ to: '/people', search: { list: 'users' }, replace: true })}
      >
        <p>{texts.delete.text({ user: userID })}</p>
      </Ask>
      <NewPassword user={user} />
    </>
  );
}

function Actions({ user }: { readonly user: User }) {
  const { people: texts } = useWords(peopleWords);
  const present = useValue(session);
  const isOwn = user.userID === present?.userID;
  return (
    <div className="row wrap">
      <DialogButton name="user-edit" className="button secondary">
        {texts.edit}…
      </DialogButton>
      {user.isConfirmed || user.roleID === 'viewer' ? null : (
        <DialogButton name="user-confirm" className="button secondary">
          {texts.confirm.open}…
        </DialogButton>
      )}
      {isOwn || !user.hasPassword ? null : (
        <DialogButton name="user-password" className="button secondary">
          {texts.password.open}…
        </DialogButton>
      )}
      {isOwn ? null : (
        <>
          <DialogButton name="user-access" className="button secondary">
            {user.isActive ? texts.access.suspend : texts.access.admit}…
          </DialogButton>
          <DialogButton name="user-delete" className="button">
            {texts.delete.open}…
          </DialogButton>
        </>
      )}
    </div>
  );
}

export function UserDetail({ user, groups }: { readonly user: User; readonly groups: readonly Group[] }) {
  const { people: texts, common } = useWords(peopleWords);
  return (
    <aside className="stack">
      <section className="card" aria-labelledby="user-title">
        <header className="wrap">
          <h2 id="user-title">{user.userID}</h2>
          <span className="push">
            <UserBadges user={user} />
          </span>
        </header>
        <div className="card-body stack">
          <dl className="pairs">
            <dt>{texts.fields.name}</dt>
            <dd>{user.userDisplayName}</dd>
            <dt>{texts.fields.role}</dt>
            <dd>{texts.roles[user.roleID]}</dd>
            <dt>{texts.fields.email}</dt>
            <dd>{user.userNotifyEmail || <span className="muted">{common.none}</span>}</dd>
            <dt>{texts.fields.phone}</dt>
            <dd>{user.contactPhone || <span className="muted">{common.none}</span>}</dd>
            <dt>{texts.fields.timeZone}</dt>
            <dd>
              <bdi>{user.timeZone}</bdi>
            </dd>
            <dt>{texts.created}</dt>
            <dd>
              <Time at={user.createdOn} />
            </dd>
          </dl>
          <Rights user={user} />
          <Actions user={user} />
        </div>
      </section>
      <Sessions userID={user.userID} />
      <Changes user={user} />
      <UserForm key={user.userID} name="user-edit" user={user} groups={groups} />
    </aside>
  );
}
