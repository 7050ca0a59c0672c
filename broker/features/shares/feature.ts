// Share links: one vehicle, or one trip of it, for people without a login.
import { manyAlarmsOperations } from '../../api/alarms/many-alarms.ts';
import { feature } from '../feature.ts';
import { shareCallerOf } from './share-caller.ts';
import { shareStreams } from './share-streams.ts';
import { shareTables } from './share-tables.ts';
import { sharedViewOperations } from './shared-views.ts';
import { shareOperations } from './shares.ts';

export const shares = feature({
  tables: shareTables,
  operations: [...shareOperations, ...sharedViewOperations],
  follows: manyAlarmsOperations,
  slice: shareStreams,
  links: shareCallerOf,
});
