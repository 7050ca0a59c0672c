// People of the account: users with what they may do, groups, and the reader's own sessions and tokens. All that is shown stands in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { peopleWords } from '../../../../build/words/people.ts';
import { Tabs } from '../../components/patterns/address.tsx';
import { Actions } from '../../components/patterns/detail.tsx';
import { ActionDialog, Fields, useFields } from '../../components/patterns/form.tsx';
import { Gate, isOneOf, Page } from '../../components/patterns/page.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { useRole, useUser } from '../../service/role.ts';
import { passwordLeast, passwordMost } from '../../state/people-view.ts';
import { Groups } from './groups.tsx';
import { peopleLists } from './people-address.ts';
import { NewToken, Sessions } from './sessions.tsx';
import { peopleChanges } from './use-people.ts';
import { usePasswordField } from './user-form.tsx';
import { Users } from './users.tsx';

function OwnPassword({ onDone }: { onDone(): void }) {
  const { ownPassword: texts } = useWords(peopleWords).people;
  const [draft, put] = useFields({ currentPassword: '', password: '' });
  const { currentPassword, password } = draft;
  const after = usePasswordField(texts.after, password);
  return (
    <ActionDialog
      icon="lock"
      title={texts.title}
      action={texts.open}
      isOff={currentPassword === '' || password.length < passwordLeast}
      beginsInField
      changes={peopleChanges}
      run={() => call('changePassword', { body: { currentPassword, newPassword: password } })}
      onDone={onDone}
    >
      <p>{texts.text}</p>
      <Fields
        of={[
          {
            name: 'currentPassword',
            label: texts.before,
            type: 'password',
            autoComplete: 'current-password',
            most: passwordMost,
            isRequired: true,
            hasFocus: true,
          },
          { ...after, hint: undefined },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

function Own() {
  const { people: texts, pages } = useWords(peopleWords);
  const user = useUser();
  const [isDone, setDone] = useState(false);
  if (user === undefined) return null;
  return (
    <div className="split">
      <Sessions userID={user.userID} />
      <aside className="card" aria-label={texts.token.shown}>
        <div className="card-body stack">
          {user.hasPassword ? (
            <>
              <Actions
                of={[
                  {
                    name: 'token-create',
                    text: texts.token.create,
                    icon: 'key-round',
                    className: 'button primary',
                    dialog: <NewToken />,
                  },
                  {
                    name: 'own-password',
                    text: texts.ownPassword.open,
                    icon: 'lock',
                    dialog: <OwnPassword onDone={() => setDone(true)} />,
                  },
                ]}
              />
              <p className="muted">{texts.token.wallboard}</p>
              <Link to="/wallboard" target="_blank" rel="noopener">
                {pages.wallboard.go}
              </Link>
              <p className="muted" role="status">
                {isDone ? texts.ownPassword.done : ''}
              </p>
            </>
          ) : (
            <>
              <p>{texts.token.loginOnly}</p>
              <p className="muted">{texts.ofProvider}</p>
            </>
          )}
        </div>
      </aside>
    </div>
  );
}

export function PeopleScreen() {
  const { people: texts, pages } = useWords(peopleWords);
  const { list = 'users' } = useSearch({ from: '/shell/people' });
  const isAdmin = isOneOf(useRole(), 'admin');
  const mayRead = isAdmin === null || list === 'users' ? isAdmin : true;
  return (
    <Page title={pages.people.title}>
      <Tabs
        label={texts.lists.label}
        values={peopleLists}
        chosen={list}
        content={(one) => texts.lists[one]}
        search={(one) => ({ list: one })}
      />
      <Gate isOpen={mayRead} title={texts.adminsOnly} hint={texts.adminsOnlyHint}>
        {list === 'own' ? <Own /> : list === 'groups' ? <Groups /> : <Users />}
      </Gate>
    </Page>
  );
}
