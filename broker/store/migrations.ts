// The broker's tables, as one ordered list of migrations. Every tenant's rows hang on `account_id`; rows of a device hang
// on `device_no`, which belongs to one account. Times: `_s` epoch seconds, `_ms` epoch milliseconds.
import type { Migration } from '../../src/migrate.ts';
import { accountMigrations } from './migrations/accounts.ts';
import { certificateMigrations } from './migrations/certificates.ts';
import { clusterMigrations } from './migrations/cluster.ts';
import { commandMigrations } from './migrations/commands.ts';
import { configMigrations } from './migrations/configs.ts';
import { deviceRequestMigrations } from './migrations/device-requests.ts';
import { deviceMigrations } from './migrations/devices.ts';
import { enrolmentMigrations } from './migrations/enrolment.ts';
import { eventMigrations } from './migrations/events.ts';
import { geozoneMigrations } from './migrations/geozones.ts';
import { leaseMigrations } from './migrations/leases.ts';
import { ledgerMigrations } from './migrations/ledger.ts';
import { liveMigrations } from './migrations/live.ts';
import { notificationMigrations } from './migrations/notifications.ts';
import { requestMigrations } from './migrations/requests.ts';
import { sliceMigrations } from './migrations/slices.ts';
import { storedRangeMigrations } from './migrations/stored-ranges.ts';

export const migrations: readonly Migration[] = [
  ...accountMigrations,
  ...deviceMigrations,
  ...eventMigrations,
  ...commandMigrations,
  ...geozoneMigrations,
  ...ledgerMigrations,
  ...notificationMigrations,
  ...requestMigrations,
  ...liveMigrations,
  ...configMigrations,
  ...enrolmentMigrations,
  ...deviceRequestMigrations,
  ...certificateMigrations,
  ...storedRangeMigrations,
  ...sliceMigrations,
  ...leaseMigrations,
  ...clusterMigrations,
];
