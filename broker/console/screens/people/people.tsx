// People of the account: users with what they may do, groups, and the reader's own sessions and tokens. All that is shown stands in the address.
import { Link, useSearch } from '@tanstack/react-router';
import { peopleWords } from '../../../../build/words/people.ts';
import { Empty, Loading } from '../../components/texts.tsx';
import { useTitle, useWords } from '../../components/use.ts';
import { useRole } from '../../service/role.ts';
import { peopleLists } from '../../state/people-view.ts';
import { Groups } from './groups.tsx';
import { Own } from './own.tsx';
import { Users } from './users.tsx';

function Content() {
  const { people: texts } = useWords(peopleWords);
  const { list = 'users' } = useSearch({ from: '/shell/people' });
  const role = useRole();
  if (role === '')
    return (
      <section className="card">
        <Loading rows={5} />
      </section>
    );
  if (list === 'own') return <Own />;
  if (list === 'groups') return <Groups />;
  if (role === 'admin') return <Users />;
  return (
    <section className="card">
      <Empty icon="lock" title={texts.adminsOnly}>
        <p>{texts.adminsOnlyHint}</p>
      </Empty>
    </section>
  );
}

export function PeopleScreen() {
  const words = useWords(peopleWords);
  const { people: texts } = words;
  const { list = 'users' } = useSearch({ from: '/shell/people' });
  useTitle(words.pages.people.title);
  return (
    <main className="page" id="main">
      <header className="page-head">
        <h1>{words.pages.people.title}</h1>
      </header>
      <nav className="tabs page-tabs" aria-label={texts.lists.label}>
        {peopleLists.map((one) => (
          <Link
            key={one}
            to="/people"
            search={{ list: one }}
            {...(one === list ? { 'aria-current': 'page' as const } : {})}
          >
            {texts.lists[one]}
          </Link>
        ))}
      </nav>
      <Content />
    </main>
  );
}
