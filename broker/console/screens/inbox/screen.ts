// Notifications of this user.
import { useWords } from '../../components/use.ts';
import { useUnviewed } from '../../service/inbox.ts';
import { address, type Badge, screen } from '../../shell/screen.ts';
import { inboxFilters } from '../../state/account/inbox-view.ts';
import { oneOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

function useBadge(): Badge | null {
  const { pages } = useWords();
  const unviewed = useUnviewed();
  return unviewed && { count: unviewed.count, text: pages.inbox.count(unviewed), isQuiet: true };
}

const inbox = address(
  '/inbox',
  { show: oneOf(inboxFilters), vehicle: text },
  () => withWords(import('./inbox.tsx')),
  'InboxScreen',
);

export const inboxScreen = screen({
  routes: [inbox],
  links: [{ to: '/inbox', icon: 'inbox', key: 'i', useBadge }],
});
