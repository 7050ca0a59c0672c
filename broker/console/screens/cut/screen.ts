// The way back from the login provider, for a cut.
import { address, screen } from '../../shell/screen.ts';
import { withWords } from '../../words/word-set.ts';

const loginAgain = address(
  '/login-again',
  {},
  () => withWords(import('./login-again.tsx')),
  'LoginAgainScreen',
);

export const cutScreen = screen({
  routes: [loginAgain],
});
