// The devices, and one of them.
import { address, screen } from '../../shell/screen.ts';
import {
  deviceDialogs,
  deviceFilters,
  deviceTabs,
  listDialogs,
  settingTables,
  silences,
} from '../../state/device-view.ts';
import { column, epoch, oneOf, picked, text } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

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

const device = address(
  '/devices/$deviceID',
  { entry: text, part: oneOf(deviceTabs), open: oneOf(deviceDialogs), table: oneOf(settingTables) },
  () => withWords(import('./device.tsx')),
  'DeviceScreen',
);

export const devicesScreen = screen({
  routes: [list, device],
  links: [{ to: '/devices', icon: 'hard-drive', key: 'd' }],
});
