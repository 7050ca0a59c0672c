// Releases of the agent.
import { address, screen } from '../../shell/screen.ts';
import { phases, releaseDialogs } from '../../state/releases/release-address.ts';
import { oneOf, text, whole } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const list = address(
  '/releases',
  { release: text, open: oneOf(releaseDialogs), unit: text, phase: oneOf(phases), stage: whole(100) },
  () => withWords(import('./releases.tsx')),
  'ReleasesScreen',
);

export const releasesScreen = screen({
  routes: [list],
  links: [{ to: '/releases', icon: 'refresh-cw', key: 'f', condition: 'admin' }],
});
