// Releases of the units' program, staged by groups of devices.
import { firmwareOperations } from '../../api/commands/firmware.ts';
import { feature } from '../feature.ts';
import { releaseRollout } from './release-rollout.ts';
import { releaseStageOperations } from './release-stages.ts';
import { releaseTables } from './release-tables.ts';
import { releaseOperations } from './releases.ts';

export const releases = feature({
  tables: releaseTables,
  clearedTables: [['releases', 'release_no']],
  operations: [...releaseOperations, ...releaseStageOperations],
  follows: firmwareOperations,
  slice: releaseRollout,
});
