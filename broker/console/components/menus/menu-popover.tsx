// The menu of a `MenuButton`, which stands elsewhere. Only what is loaded behind the first screen imports it.
import { useRef } from 'react';
import { Menu, type MenuProps, Popover, type PopoverProps } from 'react-aria-components';
import type { MenuOfButton } from './menu-button.tsx';

interface MenuPopoverProps extends Omit<MenuProps<object>, 'onClose' | 'autoFocus'> {
  readonly of: MenuOfButton;
  readonly placement?: PopoverProps['placement'];
}

export function MenuPopover({ of, placement = 'bottom end', ...menu }: MenuPopoverProps) {
  const { buttonID, focus, ...opened } = of;
  const scrollRef = useRef<HTMLDivElement>(null);
  return (
    <Popover
      className="menu"
      placement={placement}
      scrollRef={scrollRef}
      aria-labelledby={buttonID}
      {...opened}
    >
      <Menu
        aria-labelledby={buttonID}
        {...menu}
        ref={scrollRef}
        autoFocus={focus}
        onClose={() => of.onOpenChange(false)}
      />
    </Popover>
  );
}
