// Drivers and their keys.
import { address, screen } from '../../shell/screen.ts';
import { column, oneOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const list = address(
  '/drivers',
  {
    driver: text,
    key: text,
    sorted: column,
    open: oneOf([
      'driver-create',
      'driver-edit',
      'driver-leave',
      'driver-erase',
      'key-give',
      'key-end',
    ] as const),
  },
  () => withWords(import('./drivers.tsx')),
  'DriversScreen',
);

export const driversScreen = screen({
  routes: [list],
  links: [{ to: '/drivers', icon: 'key-round', key: 'k' }],
});
