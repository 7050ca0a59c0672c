// How a screen registers itself: its addresses and its links. It is light: what the screen shows is loaded when it is opened.
import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
} from '@tanstack/react-router';
import type { IconName } from '../components/icon.tsx';
import { session } from '../service/session.ts';
import { type Parsers, searchOf } from '../state/search.ts';
import type { Words } from '../words/word-set.ts';

export const rootRoute = createRootRoute();

/** The frame of every screen behind the login. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: ({ location }) => {
    if (session.get() === null)
      throw redirect({ to: '/login', search: { next: location.href }, replace: true });
  },
});

/**
 * An address in the shell, whose screen is loaded when it is opened.
 * @param search how its members are read. @param load by `withWords`. @param name of the component.
 */
export const address = <
  const P extends string,
  S extends Parsers,
  T extends Readonly<Record<K, RouteComponent>>,
  K extends keyof T & string,
>(
  path: P,
  search: S,
  load: () => Promise<T>,
  name: K,
) =>
  createRoute({
    getParentRoute: () => shellRoute,
    path,
    validateSearch: searchOf(search),
    component: lazyRouteComponent(load, name),
  });

/** What waits on a page. */
export interface Badge {
  readonly count: number;
  /** The same for a screen reader. */
  readonly text: string;
  readonly isQuiet: boolean;
}

export interface ScreenLink {
  /** Its texts have the same name in `pages` of section `main`. */
  readonly to: `/${keyof Words['pages']}`;
  readonly icon: IconName;
  /** Opens it after `g`. */
  readonly key?: string;
  /**
   * In the rail, on a phone behind a button, unless given. `first`: in the rail always; `user`: in the menu of the user; `tab`: in the
   * palette only, and opened in a tab of its own.
   */
  readonly place?: 'first' | 'user' | 'tab';
  /** Where it is offered; everywhere unless given. */
  readonly condition?: 'admin' | 'practice';
  /** A hook. */
  useBadge?(): Badge | null;
}

export interface Screen<
  R extends readonly AnyRoute[] = readonly AnyRoute[],
  O extends readonly AnyRoute[] = readonly AnyRoute[],
> {
  /** In the shell. */
  readonly routes: R;
  /** Without the shell, for readers without a session of the console. */
  readonly outside: O;
  readonly links: readonly ScreenLink[];
}

interface Registration<R extends readonly AnyRoute[], O extends readonly AnyRoute[]> {
  readonly routes?: R;
  readonly outside?: O;
  readonly links?: readonly (ScreenLink & { readonly to: (R | O)[number]['fullPath'] })[];
}

export const screen = <const R extends readonly AnyRoute[] = [], const O extends readonly AnyRoute[] = []>({
  routes,
  outside,
  links = [],
}: Registration<R, O>): Screen<R, O> => ({
  routes: routes ?? ([] as readonly AnyRoute[] as R),
  outside: outside ?? ([] as readonly AnyRoute[] as O),
  links,
});
