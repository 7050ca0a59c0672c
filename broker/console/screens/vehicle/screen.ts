// One vehicle.
import { address, screen } from '../../shell/screen.ts';
import { deviceDialogs, deviceTabs, settingTables } from '../../state/device-view.ts';
import { parseCut } from '../../state/orders/cut-view.ts';
import { epoch, oneOf, parsedBy, text } from '../../state/search.ts';
import { shareKinds } from '../../state/shares/share-view.ts';
import { eventKinds, ranges, vehicleTabs } from '../../state/vehicle/vehicle-view.ts';
import { withWords } from '../../words/word-set.ts';

/** Members of the tab of its device. */
export const devicePart = {
  entry: text,
  part: oneOf(deviceTabs),
  open: oneOf(deviceDialogs),
  table: oneOf(settingTables),
};

const vehicle = address(
  '/vehicle/$deviceID',
  {
    tab: oneOf(vehicleTabs),
    range: oneOf(ranges),
    kind: oneOf(eventKinds),
    event: text,
    from: epoch,
    to: epoch,
    time: epoch,
    at: text,
    command: text,
    cut: parsedBy(parseCut),
    unlock: parsedBy(parseCut),
    share: oneOf(shareKinds),
    ...devicePart,
  },
  () => withWords(import('./vehicle.tsx')),
  'VehicleScreen',
);

export const vehicleScreen = screen({
  routes: [vehicle],
});
