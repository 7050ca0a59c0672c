// Pages that are needed less often: beside the others in the rail, and behind one button in the dock of a phone.
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Icon, type IconName } from '../components/icon.tsx';
import { numberText } from '../components/texts.tsx';
import { useWords } from '../components/use.ts';
import { useUnviewed } from '../service/inbox.ts';
import { useIsPractice } from './use-is-practice.ts';

interface FurtherPage {
  readonly to:
    | '/practice'
    | '/inbox'
    | '/zones'
    | '/routes'
    | '/reports'
    | '/devices'
    | '/people'
    | '/shares'
    | '/settings'
    | '/rules';
  readonly icon: IconName;
  readonly text: string;
  readonly count?: { readonly count: number; readonly hasMore: boolean } | null;
}

function usePages(): readonly FurtherPage[] {
  const { devices, inbox, people, practice, reports, routes, shares, zones, settings, rules } = useWords();
  const unviewed = useUnviewed();
  const own = { to: '/practice', icon: 'flask-conical', text: practice.short } as const;
  return [
    ...(useIsPractice() ? [own] : []),
    { to: '/inbox', icon: 'inbox', text: inbox.title, count: unviewed },
    { to: '/zones', icon: 'hexagon', text: zones.title },
    { to: '/routes', icon: 'route', text: routes.title },
    { to: '/reports', icon: 'table', text: reports.title },
    { to: '/devices', icon: 'hard-drive', text: devices.title },
    { to: '/shares', icon: 'link', text: shares.title },
    { to: '/settings', icon: 'sliders', text: settings.title },
    { to: '/people', icon: 'users', text: people.title },
    { to: '/rules', icon: 'bell-ring', text: rules.short },
  ];
}

/** The number, and the same in words for a screen reader. */
function Count({ count, hasMore }: { readonly count: number; readonly hasMore: boolean }) {
  const { inbox } = useWords();
  if (count === 0) return null;
  return (
    <>
      <span className="hidden">{inbox.count(count, hasMore)}</span>
      <span className="count quiet" aria-hidden="true">
        {count > 99 ? '99+' : numberText(count)}
      </span>
    </>
  );
}

export function FurtherPages() {
  const { forms } = useWords();
  const pages = usePages();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const isHere = pages.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`));
  return (
    <>
      {pages.map(({ to, icon, text, count }) => (
        <Link key={to} className="less" to={to} activeProps={{ 'aria-current': 'page' }}>
          <Icon name={icon} isLarge />
          {text}
          {count == null ? null : <Count {...count} />}
        </Link>
      ))}
      <MenuTrigger>
        <Button className="more" {...(isHere ? { 'aria-current': 'page' as const } : {})}>
          <Icon name="ellipsis" isLarge />
          {forms.more}
        </Button>
        <Popover className="menu" placement="top end">
          <Menu onAction={(key) => void navigate({ to: pages.find(({ to }) => to === key)?.to ?? '/live' })}>
            {pages.map(({ to, icon, text, count }) => (
              <MenuItem key={to} id={to} textValue={text}>
                <Icon name={icon} />
                {text}
                {count == null ? null : <Count {...count} />}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
    </>
  );
}
