// The login, outside of the shell, and the way back from the login provider for a cut.
import { createRoute } from '@tanstack/react-router';
import { address, rootRoute, screen } from '../../shell/screen.ts';
import { searchOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';
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

const again = address('/login-again', {}, () => withWords(import('./login-again.tsx')), 'LoginAgainScreen');

export const loginScreen = screen({
  routes: [again],
  outside: [login],
});
