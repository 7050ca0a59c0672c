// The geozones.

import { address, screen } from '../../shell/screen.ts';
import { oneOf, parsedBy, text } from '../../state/search.ts';
import { parseDraft } from '../../state/zones/zone-address.ts';

import { withWords } from '../../words/word-set.ts';

const list = address(
  '/zones',
  {
    find: text,
    zone: text,
    at: text,
    edit: oneOf(['new', 'change'] as const),
    shape: parsedBy(parseDraft),
  },
  () => withWords(import('./zones.tsx')),
  'ZonesScreen',
);

export const zonesScreen = screen({
  routes: [list],
  links: [{ to: '/zones', icon: 'hexagon', key: 'z' }],
});
