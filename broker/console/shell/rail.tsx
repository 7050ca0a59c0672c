// The navigation: a rail of all pages, and on a phone a dock in which one button holds those that are needed less often.
import { Link, useLocation } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Icon } from '../components/icon.tsx';
import { lazyPart, useWords } from '../components/use.ts';
import { withWords } from '../words/word-set.ts';
import { type Page, PageBadge } from './pages.tsx';

const MoreMenu = lazyPart(async () => (await withWords(import('./more-menu.tsx'))).MoreMenu);

export function Rail({ pages }: { readonly pages: readonly Page[] }) {
  const { shell, common } = useWords();
  const { pathname } = useLocation();
  const further = pages.filter(({ place }) => place === undefined);
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
      <Suspense
        fallback={
          <button type="button" className="more" disabled>
            <Icon name="ellipsis" isLarge />
            {common.more}
          </button>
        }
      >
        <MoreMenu
          pages={further}
          isHere={further.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`))}
        />
      </Suspense>
    </nav>
  );
}
