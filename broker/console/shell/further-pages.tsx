// Pages that are needed less often: beside the others in the rail, and behind one button in the dock of a phone.
import { Link, useLocation, useNavigate } from '@tanstack/react-router';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Icon, type IconName } from '../components/icon.tsx';
import { useWords } from '../components/use.ts';
import { useIsPractice } from './use-practice.ts';

interface FurtherPage {
  readonly to:
    | '/practice'
    | '/zones'
    | '/routes'
    | '/reports'
    | '/devices'
    | '/people'
    | '/settings'
    | '/rules';
  readonly icon: IconName;
  readonly text: string;
}

function usePages(): readonly FurtherPage[] {
  const { devices, people, practice, reports, routes, zones, settings, rules } = useWords();
  const own = { to: '/practice', icon: 'flask-conical', text: practice.short } as const;
  return [
    ...(useIsPractice() ? [own] : []),
    { to: '/zones', icon: 'hexagon', text: zones.title },
    { to: '/routes', icon: 'route', text: routes.title },
    { to: '/reports', icon: 'table', text: reports.title },
    { to: '/devices', icon: 'hard-drive', text: devices.title },
    { to: '/settings', icon: 'sliders', text: settings.title },
    { to: '/people', icon: 'users', text: people.title },
    { to: '/rules', icon: 'bell-ring', text: rules.short },
  ];
}

export function FurtherPages() {
  const { forms } = useWords();
  const pages = usePages();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const isHere = pages.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`));
  return (
    <>
      {pages.map(({ to, icon, text }) => (
        <Link key={to} className="less" to={to} activeProps={{ 'aria-current': 'page' }}>
          <Icon name={icon} isLarge />
          {text}
        </Link>
      ))}
      <MenuTrigger>
        <Button className="more" {...(isHere ? { 'aria-current': 'page' as const } : {})}>
          <Icon name="ellipsis" isLarge />
          {forms.more}
        </Button>
        <Popover className="menu" placement="top end">
          <Menu onAction={(key) => void navigate({ to: pages.find(({ to }) => to === key)?.to ?? '/live' })}>
            {pages.map(({ to, icon, text }) => (
              <MenuItem key={to} id={to} textValue={text}>
                <Icon name={icon} />
                {text}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
    </>
  );
}
