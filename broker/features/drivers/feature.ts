// Drivers as people: their names, and which keys they had when.
import { reportOperations } from '../../api/events/reports.ts';
import { feature } from '../feature.ts';
import { ownersOfKeys } from './driver-statements.ts';
import { driverTables } from './driver-tables.ts';
import { driverOperations } from './drivers.ts';

export const drivers = feature({
  tables: driverTables,
  clearedTables: [
    ['drivers', 'driver_no'],
    ['driver_lists', 'account_id'],
  ],
  operations: driverOperations,
  follows: reportOperations,
  keyOwners: ownersOfKeys,
});
