// The practice fleet, where there is one.
import { address, screen } from '../../shell/screen.ts';
import { text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const practice = address(
  '/practice',
  { vehicle: text },
  () => withWords(import('./practice.tsx')),
  'PracticeScreen',
);

export const practiceScreen = screen({
  routes: [practice],
  links: [
    {
      to: '/practice',
      icon: 'flask-conical',
      key: 'w',
      condition: 'practice',
    },
  ],
});
