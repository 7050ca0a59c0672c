// Users, groups, and what is their own.
import { address, screen } from '../../shell/screen.ts';
import { column, oneOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';
import { peopleDialogs, peopleLists } from './people-address.ts';

const people = address(
  '/people',
  {
    list: oneOf(peopleLists),
    user: text,
    group: text,
    session: text,
    sorted: column,
    open: oneOf(peopleDialogs),
  },
  () => withWords(import('./people.tsx')),
  'PeopleScreen',
);

export const peopleScreen = screen({
  routes: [people],
  links: [{ to: '/people', icon: 'users', key: 'u' }],
});
