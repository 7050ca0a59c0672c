// All screens, in the order in which the navigation names them. A screen is a folder beside this file and its line here.
import { accountScreen } from './account/screen.ts';
import { alarmsScreen } from './alarms/screen.ts';
import { approvalsScreen } from './approvals/screen.ts';
import { auditScreen } from './audit/screen.ts';
import { devicesScreen } from './devices/screen.ts';
import { driversScreen } from './drivers/screen.ts';
import { inboxScreen } from './inbox/screen.ts';
import { liveScreen } from './live/screen.ts';
import { loginScreen } from './login/screen.ts';
import { peopleScreen } from './people/screen.ts';
import { practiceScreen } from './practice/screen.ts';
import { releasesScreen } from './releases/screen.ts';
import { reportsScreen } from './reports/screen.ts';
import { routesScreen } from './routes/screen.ts';
import { rulesScreen } from './rules/screen.ts';
import { settingsScreen } from './settings/screen.ts';
import { sharesScreen } from './shares/screen.ts';
import { trackersScreen } from './trackers/screen.ts';
import { vehicleScreen } from './vehicle/screen.ts';
import { visitsScreen } from './visits/screen.ts';
import { zonesScreen } from './zones/screen.ts';

export const screens = [
  liveScreen,
  alarmsScreen,
  approvalsScreen,
  practiceScreen,
  inboxScreen,
  zonesScreen,
  routesScreen,
  visitsScreen,
  reportsScreen,
  devicesScreen,
  trackersScreen,
  driversScreen,
  sharesScreen,
  settingsScreen,
  peopleScreen,
  rulesScreen,
  releasesScreen,
  auditScreen,
  accountScreen,
  vehicleScreen,
  loginScreen,
] as const;
