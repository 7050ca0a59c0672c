// The navigation: a rail of all pages, and on a phone a dock in which one button holds those that are needed less often.
import { Link, useLocation } from '@tanstack/react-router';
import { Icon } from '../components/icon.tsx';
import { MenuButton } from '../components/menus/menu-button.tsx';
import { lazyPart, useWords } from '../components/use.ts';
import { withWords } from '../words/word-set.ts';
import { type Page, PageBadge } from './pages.tsx';

export const loadMoreMenu = (isAhead = false) => withWords(import('./more-menu.tsx'), isAhead);
const MoreMenu = lazyPart(async () => (await loadMoreMenu()).MoreMenu);

export function Rail({ pages }: { readonly pages: readonly Page[] }) {
  const { shell, common } = useWords();
  const { pathname } = useLocation();
  const further = pages.filter(({ place }) => place === undefined);
  const isHere = further.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`));
  return (
    <nav className="rail" aria-label={shell.main}>
      {[...pages.filter(({ place }) => place === 'first'), ...further].map(
        ({ to, icon, short, place, useBadge }) => (
          <Link
            key={to}
            className={place === undefined ? 'less' : ''}
            to={to}
            activeProps={{ 'aria-current': 'page' }}
          >
            <Icon name={icon} isLarge />
            {short}
            <PageBadge {...(useBadge && { useBadge })} />
          </Link>
        ),
      )}
      <MenuButton
        className="more"
        {...(isHere ? { 'aria-current': 'page' as const } : {})}
        load={loadMoreMenu}
        menu={(of) => <MoreMenu of={of} pages={further} />}
      >
        <Icon name="ellipsis" isLarge />
        {common.more}
      </MenuButton>
    </nav>
  );
}
