// The buttons of the bar that open a menu: theme and language, the user.
import type { ComponentProps } from 'react';
import { Icon } from '../components/icon.tsx';
import { MenuButton } from '../components/menus/menu-button.tsx';
import { lazyPart, useValue, useWords } from '../components/use.ts';
import { session } from '../service/session.ts';
import { withWords } from '../words/word-set.ts';

export const loadMenus = (isAhead = false) => withWords(import('./menus.tsx'), isAhead);
const Theme = lazyPart(async () => (await loadMenus()).ThemeMenu);
const User = lazyPart(async () => (await loadMenus()).UserMenu);

/** Theme and language. */
export function ThemeButton() {
  const { shell } = useWords();
  return (
    <MenuButton
      className="button square"
      aria-label={`${shell.theme}, ${shell.language}`}
      load={loadMenus}
      menu={(of) => <Theme of={of} />}
    >
      <Icon name="sun-moon" isLarge />
    </MenuButton>
  );
}

export function UserButton(props: Omit<ComponentProps<typeof User>, 'of'>) {
  const { shell } = useWords();
  const present = useValue(session);
  if (present === null) return null;
  return (
    <MenuButton
      className="button square"
      aria-label={shell.user({ user: present.userID })}
      load={loadMenus}
      menu={(of) => <User {...props} of={of} />}
    >
      <span className="avatar" aria-hidden="true" data-initials={present.userID.slice(0, 2).toUpperCase()} />
    </MenuButton>
  );
}
