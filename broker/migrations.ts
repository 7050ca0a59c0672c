// The broker's tables, as migrations: one creates today's tables (`schema/`), and each later change of a released version is
// one more entry at the end. An entry that was released never changes.
import { createHash } from 'node:crypto';
import type { Migration } from '../src/migrate.ts';
import { allFeatures } from './features.ts';
import { accountTables } from './store/schema/accounts.ts';
import { alarmTables } from './store/schema/alarms.ts';
import { bridgeTables } from './store/schema/bridges.ts';
import { commandTables } from './store/schema/commands.ts';
import { configTables } from './store/schema/configs.ts';
import { deviceTables } from './store/schema/devices.ts';
import { eventTables } from './store/schema/events.ts';
import { fleetRevisionTriggers } from './store/schema/fleet-revisions.ts';
import { notificationTables } from './store/schema/notifications.ts';
import { occurrenceTables } from './store/schema/occurrences.ts';
import { putFact } from './store/service-facts.ts';

const changes: readonly Migration[] = [
  {
    name: '1-schema',
    statements: [
      ...accountTables,
      ...deviceTables,
      ...configTables,
      ...eventTables,
      ...commandTables,
      ...notificationTables,
      ...alarmTables,
      ...bridgeTables,
      ...fleetRevisionTriggers,
      ...occurrenceTables,
      ...allFeatures.flatMap(({ tables = [] }) => tables),
    ],
  },
];

/** The fact that names the build which has made the tables. */
export const buildFact = 'build';

/** Of all statements: two builds with the same names of migrations may still differ. */
export const buildHash = createHash('sha256')
  .update(
    changes
      .flatMap(({ name, statements }) => [name, ...statements.map((one) => one.sql)])
      .join('\n')
      .replace(/\s+/g, ' '),
  )
  .digest('hex')
  .slice(0, 16);

/** The last one of them records the build, in its own batch. */
export const migrations: readonly Migration[] = changes.map((change, at) =>
  at < changes.length - 1
    ? change
    : { ...change, statements: [...change.statements, putFact(buildFact, buildHash)] },
);
