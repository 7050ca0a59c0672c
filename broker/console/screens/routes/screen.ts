// The routes: geozones along a way.

import { address, screen } from '../../shell/screen.ts';
import { oneOf, parsedBy, text } from '../../state/search.ts';
import { parseDraft, routePointsMost } from '../../state/zones/zone-address.ts';

import { withWords } from '../../words/word-set.ts';

const list = address(
  '/routes',
  {
    find: text,
    route: text,
    at: text,
    edit: oneOf(['new', 'change'] as const),
    shape: parsedBy((shape) => parseDraft(shape, routePointsMost)?.type === 2),
  },
  () => withWords(import('./routes.tsx')),
  'RoutesScreen',
);

export const routesScreen = screen({
  routes: [list],
  links: [{ to: '/routes', icon: 'route', key: 'o' }],
});
