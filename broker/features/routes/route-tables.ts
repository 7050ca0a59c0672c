// Planned routes and their vehicles.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { column, table } from '../../store/base/table.ts';
import { pointsOf } from '../../store/geozones/geozones.ts';

export const routes = table(
  'routes',
  {
    routeNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
    accountID: column('TEXT NOT NULL REFERENCES accounts (account_id)', 'hidden'),
    routeID: 'TEXT NOT NULL',
    displayName: 'TEXT NOT NULL',
    radiusM: 'INTEGER NOT NULL',
    /** Along the way; kept as a JSON list of [latitude, longitude]. */
    points: column('TEXT NOT NULL', pointsOf),
    /** Another one after every change, that no other change has. */
    version: 'BIGINT NOT NULL',
    changedMs: column('BIGINT NOT NULL', 'hidden'),
  },
  'UNIQUE (account_id, route_id)',
);

export const routeTables: readonly Statement[] = [
  routes.create,
  ddl(`CREATE TABLE route_devices (
    route_no INTEGER NOT NULL REFERENCES routes (route_no) ON DELETE CASCADE,
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    PRIMARY KEY (route_no, device_no))`),
  ddl('CREATE INDEX route_devices_by_device ON route_devices (device_no)'),
];
