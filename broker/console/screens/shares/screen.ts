// Links to positions and trips for people without a login.
import { address, screen } from '../../shell/screen.ts';
import { oneOf, text } from '../../state/search.ts';
import { shareFilters } from '../../state/shares/share-view.ts';
import { withWords } from '../../words/word-set.ts';

const list = address(
  '/shares',
  { show: oneOf(shareFilters), vehicle: text, revoke: text },
  () => withWords(import('./shares.tsx')),
  'SharesScreen',
);

export const sharesScreen = screen({
  routes: [list],
  links: [{ to: '/shares', icon: 'link', key: 'h' }],
});
