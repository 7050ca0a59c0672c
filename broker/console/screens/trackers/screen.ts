// Trackers of other makers and phones: how they are connected. It is reached from the devices.
import { address, screen } from '../../shell/screen.ts';
import { oneOf } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const trackers = address(
  '/trackers',
  { open: oneOf(['trackers-add', 'track-token', 'phone-key'] as const) },
  () => withWords(import('./trackers.tsx')),
  'TrackersScreen',
);

export const trackersScreen = screen({ routes: [trackers] });
