// The account and the preferences of the user.
import { address, screen } from '../../shell/screen.ts';
import { accountDialogs } from '../../state/account/account-address.ts';
import { oneOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const account = address(
  '/account',
  { open: oneOf(accountDialogs), passkey: text },
  () => withWords(import('./account.tsx')),
  'AccountScreen',
);

export const accountScreen = screen({
  routes: [account],
  links: [{ to: '/account', icon: 'user', key: 'c', place: 'user' }],
});
