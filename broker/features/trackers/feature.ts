// Trackers of other makers, through a Traccar server, and phones. The kernel keeps the mark of such a device, and refuses its commands.
import { deviceImportOperations } from '../../api/devices/device-import.ts';
import { feature } from '../feature.ts';
import { lostPositions } from './lost-positions.ts';
import { phoneOperations } from './phones.ts';
import { traccarOperations } from './traccar.ts';
import { trackerTables } from './tracker-tables.ts';

export const trackers = feature({
  tables: trackerTables,
  operations: [...traccarOperations, ...phoneOperations],
  follows: deviceImportOperations,
  slice: lostPositions,
});
