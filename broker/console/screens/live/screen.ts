// The live map.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { address, rootRoute, screen } from '../../shell/screen.ts';
import { filters } from '../../state/fleet.ts';
import { oneOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const live = address(
  '/live',
  { filter: oneOf(filters), find: text, group: text, vehicle: text, at: text, here: text },
  () => withWords(import('./live.tsx')),
  'LiveScreen',
);

/** The live map as a wallboard, with a token that may read only: without the shell, its menus and its commands. */
const board = createRoute({
  getParentRoute: () => rootRoute,
  path: '/wallboard',
  component: lazyRouteComponent(() => withWords(import('./board.tsx')), 'BoardScreen'),
});

export const liveScreen = screen({
  routes: [live],
  outside: [board],
  links: [
    { to: '/live', icon: 'map', key: 'm', place: 'first' },
    { to: '/wallboard', icon: 'monitor', place: 'tab' },
  ],
});
