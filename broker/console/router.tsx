// The router of the console: all addresses, as the screens register them. What a screen shows is in its address: filter, selection, place and
// zoom of the map, period.
import { type AnyRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { Suspense } from 'react';
import { lazyPart, useValue } from './components/use.ts';
import { screens } from './screens/screens.ts';
import { takeLoginAgain } from './service/login-again.ts';
import { isEnded } from './service/session.ts';
import { NotFound, ScreenFailed } from './shell/failed.tsx';
import { rootRoute, type Screen, type ScreenLink, shellRoute } from './shell/screen.ts';
import { Shell } from './shell/shell.tsx';
import { withWords } from './words/word-set.ts';

const links: readonly ScreenLink[] = screens.flatMap((one) => one.links);

const start = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  beforeLoad: () => {
    if (takeLoginAgain(new URLSearchParams(window.location.search)))
      throw redirect({ to: '/login-again', replace: true });
    throw redirect({ to: '/live', replace: true });
  },
});

/** Routes of all screens, inside or outside of the shell. */
type RoutesOf<S, K extends 'routes' | 'outside'> = S extends readonly [
  infer One extends Screen,
  ...infer Rest,
]
  ? [...One[K], ...RoutesOf<Rest, K>]
  : [];

const routesOf = <K extends 'routes' | 'outside'>(where: K) =>
  screens.flatMap((one): readonly AnyRoute[] => one[where]) as RoutesOf<typeof screens, K>;

rootRoute.update({ notFoundComponent: NotFound, errorComponent: ScreenFailed });
const LoginDialog = lazyPart(
  async () => (await withWords(import('./screens/login/login-dialog.tsx'))).LoginDialog,
);

function ShellWithLogin() {
  const hasEnded = useValue(isEnded);
  return (
    <>
      <Shell links={links} />
      <Suspense>{hasEnded ? <LoginDialog /> : null}</Suspense>
    </>
  );
}

shellRoute.update({ component: ShellWithLogin });

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...routesOf('outside'),
    shellRoute.addChildren([start, ...routesOf('routes')]),
  ]),
  basepath: '/console',
  defaultErrorComponent: ScreenFailed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
