// The settings of all vehicles.
import { address, screen } from '../../shell/screen.ts';
import { settingTables } from '../../state/device-view.ts';
import { oneOf } from '../../state/search.ts';
import { withWords } from '../../words/word-set.ts';

const fleet = address(
  '/settings',
  { table: oneOf(settingTables) },
  () => withWords(import('./fleet.tsx')),
  'SettingsScreen',
);

export const settingsScreen = screen({
  routes: [fleet],
  links: [{ to: '/settings', icon: 'sliders', key: 's' }],
});
