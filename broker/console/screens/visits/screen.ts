// "Who was here?": the vehicles of a place in a span of time.
import { address, screen } from '../../shell/screen.ts';
import { epoch, parsedBy, text, whole } from '../../state/search.ts';
import { parsePoint } from '../../state/zones/zone-address.ts';
import { withWords } from '../../words/word-set.ts';

const visits = address(
  '/visits',
  {
    place: parsedBy(parsePoint),
    radius: whole(5001),
    from: epoch,
    minutes: whole(1441),
    vehicle: text,
    at: text,
  },
  () => withWords(import('./visits.tsx')),
  'VisitsScreen',
);

export const visitsScreen = screen({
  routes: [visits],
  links: [{ to: '/visits', icon: 'search', key: 'y' }],
});
