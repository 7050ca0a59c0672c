// Requests that wait for a second person.
import { useWords } from '../../components/use.ts';
import { useOwnApprovals } from '../../service/orders.ts';
import { address, type Badge, screen } from '../../shell/screen.ts';
import { text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

function useBadge(): Badge {
  const { pages } = useWords();
  const count = useOwnApprovals().length;
  return { count, text: pages.approvals.count({ count }), isQuiet: true };
}

const list = address(
  '/approvals',
  { request: text },
  () => withWords(import('./approvals.tsx')),
  'ApprovalsScreen',
);

export const approvalsScreen = screen({
  routes: [list],
  links: [{ to: '/approvals', icon: 'user-check', key: 'p', place: 'first', useBadge }],
});
