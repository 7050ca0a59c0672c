// Planned routes and their vehicles.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';

export const routeTables: readonly Statement[] = [
  // `points`: JSON list of [latitude, longitude] along the way.
  ddl(`CREATE TABLE routes (
    route_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL REFERENCES accounts (account_id),
    route_id TEXT NOT NULL,
    display_name TEXT NOT NULL,
    radius_m INTEGER NOT NULL,
    points TEXT NOT NULL,
    version BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL,
    UNIQUE (account_id, route_id))`),
  ddl(`CREATE TABLE route_devices (
    route_no INTEGER NOT NULL REFERENCES routes (route_no) ON DELETE CASCADE,
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    PRIMARY KEY (route_no, device_no))`),
  ddl('CREATE INDEX route_devices_by_device ON route_devices (device_no)'),
];
