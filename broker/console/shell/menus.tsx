// The menus of the bar: theme, language, the user.
import { useNavigate } from '@tanstack/react-router';
import { Header, MenuItem, MenuSection } from 'react-aria-components';
import { isLanguage, languages } from '../../../src/core/words/languages.ts';
import { Icon } from '../components/icon.tsx';
import type { MenuOfButton } from '../components/menus/menu-button.tsx';
import { MenuPopover } from '../components/menus/menu-popover.tsx';
import { useValue, useWords } from '../components/use.ts';
import { call } from '../service/call.ts';
import { leaveProvider } from '../service/provider-login.ts';
import { endSession, session } from '../service/session.ts';
import { chooseLanguage } from '../words/language.ts';
import { language } from '../words/word-set.ts';
import type { Page } from './pages.tsx';
import { chooseTheme, isTheme, theme, themes } from './theme.ts';

/** Theme and language. */
export function ThemeMenu({ of }: { readonly of: MenuOfButton }) {
  const { shell } = useWords();
  const chosen = useValue(theme);
  const spoken = useValue(language);
  return (
    <MenuPopover of={of}>
      <MenuSection
        selectionMode="single"
        selectedKeys={[chosen]}
        onSelectionChange={(keys) => [...new Set<unknown>(keys)].filter(isTheme).forEach(chooseTheme)}
      >
        <Header>{shell.theme}</Header>
        {themes.map((one) => (
          <MenuItem key={one} id={one} textValue={shell.themes[one]}>
            {shell.themes[one]}
          </MenuItem>
        ))}
      </MenuSection>
      <MenuSection
        selectionMode="single"
        selectedKeys={[spoken]}
        onSelectionChange={(keys) =>
          [...new Set<unknown>(keys)].map(String).filter(isLanguage).forEach(chooseLanguage)
        }
      >
        <Header>{shell.language}</Header>
        {Object.entries(languages).map(([code, name]) => (
          <MenuItem key={code} id={code} textValue={name}>
            <span lang={code}>{name}</span>
          </MenuItem>
        ))}
      </MenuSection>
    </MenuPopover>
  );
}

/** Longest wait for the service: in a dead network the tab forgets the session all the same, ms. */
const signOutMs = 5000;

/** Ends the session at the service; this tab forgets it whatever the service answers. */
export async function signOut(): Promise<void> {
  const present = session.get();
  if (present === null) return;
  const { accountID, userID, logoutURL } = present;
  const signal = AbortSignal.timeout(signOutMs);
  await call('logout', { params: { accountID, userID }, signal }).catch(() => undefined);
  endSession();
  leaveProvider(logoutURL);
}

interface UserMenuProps {
  readonly of: MenuOfButton;
  readonly pages: readonly Page[];
  onKeys(): void;
}

export function UserMenu({ of, pages, onKeys }: UserMenuProps) {
  const { shell } = useWords();
  const navigate = useNavigate();
  const present = useValue(session);
  if (present === null) return null;
  return (
    <MenuPopover
      of={of}
      onAction={(key) => {
        const page = pages.find(({ to }) => to === key);
        if (page !== undefined) void navigate({ to: page.to });
        else if (key === 'keys') onKeys();
        else void signOut();
      }}
    >
      <MenuSection>
        <Header>
          {present.userID} · {present.accountID}
        </Header>
        {pages.map(({ to, icon, title, key }) => (
          <MenuItem key={to} id={to} textValue={title}>
            <Icon name={icon} />
            {title}
            {key === undefined ? null : <kbd>g {key}</kbd>}
          </MenuItem>
        ))}
        <MenuItem id="keys" textValue={shell.keys}>
          <Icon name="keyboard" />
          {shell.keys}
          <kbd>?</kbd>
        </MenuItem>
        <MenuItem id="out" textValue={shell.signOut}>
          <Icon name="log-out" />
          {shell.signOut}
        </MenuItem>
      </MenuSection>
    </MenuPopover>
  );
}
