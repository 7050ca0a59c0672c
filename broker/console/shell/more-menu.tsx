// The further pages behind one button, in the dock of a phone.
import { useNavigate } from '@tanstack/react-router';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Icon } from '../components/icon.tsx';
import { useWords } from '../components/use.ts';
import { type Page, PageBadge } from './pages.tsx';

interface MoreMenuProps {
  readonly pages: readonly Page[];
  /** The open page is one of them. */
  readonly isHere: boolean;
}

export function MoreMenu({ pages, isHere }: MoreMenuProps) {
  const { common } = useWords();
  const navigate = useNavigate();
  return (
    <MenuTrigger>
      <Button className="more" {...(isHere ? { 'aria-current': 'page' as const } : {})}>
        <Icon name="ellipsis" isLarge />
        {common.more}
      </Button>
      <Popover className="menu" placement="top end">
        <Menu onAction={(key) => void navigate({ to: pages.find(({ to }) => to === key)?.to ?? '/live' })}>
          {pages.map(({ to, icon, short, useBadge }) => (
            <MenuItem key={to} id={to} textValue={short}>
              <Icon name={icon} />
              {short}
              <PageBadge {...(useBadge && { useBadge })} />
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
