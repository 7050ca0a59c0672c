// The login, outside of the shell, and the way back from the login provider for a cut.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, rootRoute, screen } from '../../shell/screen.ts';
import { searchOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

/** Paths of this console only: a link cannot lead to another host. */
const next = (value: unknown): string | undefined => {
  const path = text(value);
  return path !== undefined && /^\/(?![/\\])/.test(path) ? path : undefined;
};

const login = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: searchOf({ next }),
  component: lazyRouteComponent(() => withWords(import('./login.tsx')), 'LoginScreen'),
});

const again = address('/login-again', {}, () => withWords(import('./login-again.tsx')), 'LoginAgainScreen');

export const loginScreen = screen({
  routes: [again],
  outside: [login],
});
