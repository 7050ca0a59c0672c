// The further pages behind one button, in the dock of a phone.
import { useNavigate } from '@tanstack/react-router';
import { MenuItem } from 'react-aria-components';
import { Icon } from '../components/icon.tsx';
import type { MenuOfButton } from '../components/menus/menu-button.tsx';
import { MenuPopover } from '../components/menus/menu-popover.tsx';
import { type Page, PageBadge } from './pages.tsx';

interface MoreMenuProps {
  readonly of: MenuOfButton;
  readonly pages: readonly Page[];
}

export function MoreMenu({ of, pages }: MoreMenuProps) {
  const navigate = useNavigate();
  return (
    <MenuPopover
      of={of}
      placement="top end"
      onAction={(key) => void navigate({ to: pages.find(({ to }) => to === key)?.to ?? '/live' })}
    >
      {pages.map(({ to, icon, short, useBadge }) => (
        <MenuItem key={to} id={to} textValue={short}>
          <Icon name={icon} />
          {short}
          <PageBadge {...(useBadge && { useBadge })} />
        </MenuItem>
      ))}
    </MenuPopover>
  );
}
