// The login, outside of the shell.
import { createRoute } from '@tanstack/react-router';
import { rootRoute, screen } from '../../shell/screen.ts';
import { searchOf, text } from '../../state/search.ts';
import { LoginScreen } from './login.tsx';

/** Paths of this console only: a link cannot lead to another host. */
const next = (value: unknown): string | undefined => {
  const path = text(value);
  return path !== undefined && /^\/(?![/\\])/.test(path) ? path : undefined;
};

const login = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: searchOf({ next }),
  component: LoginScreen,
});

export const loginScreen = screen({
  outside: [login],
});
