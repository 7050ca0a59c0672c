// The users of the account, for administrators.
import { Link, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { peopleWords } from '../../../../build/words/people.ts';
import { Icon } from '../../components/icon.tsx';
import { ListTable } from '../../components/rows/list-table.tsx';
import { Empty } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { session } from '../../service/session.ts';
import { everyDevice, type User } from '../../state/people-view.ts';
import { useGroups, usePeopleDialog, useUsers } from './use-people.ts';
import { UserBadges } from './user-badges.tsx';
import { UserDetail } from './user-detail.tsx';
import { UserForm } from './user-form.tsx';

/** The devices that a user sees, in words. */
function useSight(): (user: User) => string {
  const { people: texts } = useWords(peopleWords);
  return ({ roleID, groups }) => {
    if (roleID === 'admin' || groups.includes(everyDevice)) return texts.every;
    return groups.length === 0 ? texts.noDevice : groups.join(', ');
  };
}

function Row({ user, isSelected }: { readonly user: User; readonly isSelected: boolean }) {
  const { people: texts } = useWords(peopleWords);
  const present = useValue(session);
  const sightOf = useSight();
  const isOwn = user.userID === present?.userID;
  return (
    <tr data-selected={isSelected}>
      <th scope="row">
        <Link
          to="/people"
          search={{ list: 'users', user: user.userID }}
          resetScroll={false}
          {...(isSelected ? { 'aria-current': true as const } : {})}
        >
          {user.userID}
        </Link>
        <span className="note">
          {user.userDisplayName === user.userID ? '' : user.userDisplayName} {isOwn ? `(${texts.you})` : ''}
        </span>
      </th>
      <td>
        <UserBadges user={user} />
      </td>
      <td data-label={texts.columns.role}>{texts.roles[user.roleID]}</td>
      <td data-label={texts.columns.groups}>{sightOf(user)}</td>
    </tr>
  );
}

export function Users() {
  const { people: texts } = useWords(peopleWords);
  const { user: userID = null } = useSearch({ from: '/shell/people' });
  const { users, error } = useUsers();
  const { groups } = useGroups();
  const dialog = usePeopleDialog();
  const selected = users?.find((user) => user.userID === userID);
  const { user, state, role, groups: sees } = texts.columns;
  return (
    <div className="split">
      <section className="card" aria-labelledby="users-title">
        <header className="wrap">
          <h2 id="users-title">{texts.lists.users}</h2>
          <Button
            className="button primary push"
            aria-haspopup="dialog"
            onPress={() => dialog.open('user-create')}
          >
            <Icon name="plus" />
            {texts.create}…
          </Button>
        </header>
        <View error={error} isLoaded={users !== undefined} empty={null}>
          <ListTable caption={texts.caption} columns={[user, state, role, sees]}>
            {users?.map((one) => (
              <Row key={one.userID} user={one} isSelected={one.userID === userID} />
            ))}
          </ListTable>
        </View>
      </section>
      {selected === undefined ? (
        <aside className="card not-narrow" aria-label={texts.rights}>
          <Empty icon="users" title={userID === null || users === undefined ? texts.pickUser : texts.gone} />
        </aside>
      ) : (
        <UserDetail key={selected.userID} user={selected} groups={groups ?? []} />
      )}
      <UserForm name="user-create" user={null} groups={groups ?? []} />
    </div>
  );
}
