// Geozones and routes: objects of an account that belong to no device.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const geozoneMigrations: readonly Migration[] = [
  {
    name: '0005-geozones',
    statements: [
      // `points`: JSON list of eight [latitude, longitude], unset ones as [0, 0]. `switches`: JSON list of the names of the
      // automations and alerts that are on. `south` .. `east`: box that holds everything in the zone; `west` > `east` when
      // it crosses the antimeridian; null while nothing can be in it. `version` grows with every change.
      ddl(`CREATE TABLE geozones (
        account_id TEXT NOT NULL REFERENCES accounts (account_id),
        geozone_id TEXT NOT NULL,
        display_name TEXT NOT NULL,
        description TEXT NOT NULL,
        type INTEGER NOT NULL,
        radius_m INTEGER NOT NULL,
        points TEXT NOT NULL,
        switches TEXT NOT NULL,
        south DOUBLE PRECISION,
        north DOUBLE PRECISION,
        west DOUBLE PRECISION,
        east DOUBLE PRECISION,
        version BIGINT NOT NULL,
        changed_ms BIGINT NOT NULL,
        PRIMARY KEY (account_id, geozone_id))`),
      // Answers "which zones may hold this point" without touching the table.
      ddl('CREATE INDEX geozones_by_box ON geozones (account_id, south, north, west, east, geozone_id)'),
    ],
  },
  {
    name: '0005-routes',
    statements: [
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
    ],
  },
];
