// Pages that are needed less often: beside the others in the rail, and behind one button in the dock of a phone.
import { Link, useLocation } from '@tanstack/react-router';
import { Suspense } from 'react';
import { Icon } from '../components/icon.tsx';
import { lazyPart, useWords } from '../components/use.ts';
import { useUnviewed } from '../service/inbox.ts';
import { useRole } from '../service/role.ts';
import { withWords } from '../words/word-set.ts';
import { type FurtherPage, PageCount } from './page-count.tsx';
import { useIsPractice } from './use-is-practice.ts';

const MoreMenu = lazyPart(async () => (await withWords(import('./more-menu.tsx'))).MoreMenu);

function usePages(): readonly FurtherPage[] {
  const { pages } = useWords();
  const isAdmin = useRole() === 'admin';
  const log = { to: '/audit', icon: 'shield-check', text: pages.audit.title } as const;
  const programs = { to: '/releases', icon: 'refresh-cw', text: pages.releases.short } as const;
  const unviewed = useUnviewed();
  const own = { to: '/practice', icon: 'flask-conical', text: pages.practice.short } as const;
  return [
    ...(useIsPractice() ? [own] : []),
    { to: '/inbox', icon: 'inbox', text: pages.inbox.title, count: unviewed },
    { to: '/zones', icon: 'hexagon', text: pages.zones.title },
    { to: '/routes', icon: 'route', text: pages.routes.title },
    { to: '/reports', icon: 'table', text: pages.reports.title },
    { to: '/devices', icon: 'hard-drive', text: pages.devices.title },
    { to: '/shares', icon: 'link', text: pages.shares.title },
    { to: '/settings', icon: 'sliders', text: pages.settings.title },
    { to: '/people', icon: 'users', text: pages.people.title },
    { to: '/rules', icon: 'bell-ring', text: pages.rules.short },
    ...(isAdmin ? [programs, log] : []),
  ];
}

export function FurtherPages() {
  const { common } = useWords();
  const pages = usePages();
  const { pathname } = useLocation();
  const isHere = pages.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`));
  return (
    <>
      {pages.map(({ to, icon, text, count }) => (
        <Link key={to} className="less" to={to} activeProps={{ 'aria-current': 'page' }}>
          <Icon name={icon} isLarge />
          {text}
          {count == null ? null : <PageCount {...count} />}
        </Link>
      ))}
      <Suspense
        fallback={
          <button type="button" className="more" disabled>
            <Icon name="ellipsis" isLarge />
            {common.more}
          </button>
        }
      >
        <MoreMenu pages={pages} isHere={isHere} />
      </Suspense>
    </>
  );
}
