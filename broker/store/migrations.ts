// The broker's tables, as migrations: one creates today's tables (`schema/`), and each later change of a released version is
// one more entry at the end. An entry that was released never changes.
import type { Migration } from '../../src/migrate.ts';
import { accountTables } from './schema/accounts.ts';
import { alarmTables } from './schema/alarms.ts';
import { bridgeTables } from './schema/bridges.ts';
import { commandTables } from './schema/commands.ts';
import { configTables } from './schema/configs.ts';
import { deviceTables } from './schema/devices.ts';
import { eventTables } from './schema/events.ts';
import { fleetRevisionTriggers } from './schema/fleet-revisions.ts';
import { notificationTables } from './schema/notifications.ts';
import { occurrenceTables } from './schema/occurrences.ts';
import { releaseTables } from './schema/releases.ts';
import { reportTables } from './schema/reports.ts';

export const migrations: readonly Migration[] = [
  {
    name: '1-schema',
    statements: [
      ...accountTables,
      ...deviceTables,
      ...configTables,
      ...eventTables,
      ...commandTables,
      ...releaseTables,
      ...notificationTables,
      ...reportTables,
      ...alarmTables,
      ...bridgeTables,
      ...fleetRevisionTriggers,
      ...occurrenceTables,
    ],
  },
];
