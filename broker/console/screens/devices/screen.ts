// The devices. One of them is a tab of its vehicle's page.
import { createRoute, redirect } from '@tanstack/react-router';
import { address, screen, shellRoute } from '../../shell/screen.ts';
import { deviceFilters, listDialogs, silences } from '../../state/device-view.ts';
import { column, epoch, oneOf, picked, searchOf, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';
import { devicePart } from '../vehicle/screen.ts';

const list = address(
  '/devices',
  {
    silent: oneOf(silences),
    pick: picked,
    link: oneOf(deviceFilters),
    find: text,
    group: text,
    rows: epoch,
    sorted: column,
    open: oneOf(listDialogs),
  },
  () => withWords(import('./devices.tsx')),
  'DevicesScreen',
);

const device = createRoute({
  getParentRoute: () => shellRoute,
  path: '/devices/$deviceID',
  validateSearch: searchOf(devicePart),
  beforeLoad: ({ params, search }) => {
    throw redirect({ to: '/vehicle/$deviceID', params, search: { ...search, tab: 'device' }, replace: true });
  },
});

export const devicesScreen = screen({
  routes: [list, device],
  links: [{ to: '/devices', icon: 'hard-drive', key: 'd' }],
});
