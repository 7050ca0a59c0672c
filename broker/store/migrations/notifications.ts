// Rules, notifications, deliveries and push registrations.
import type { Migration } from '../../../src/migrate.ts';

export const notificationMigrations: readonly Migration[] = [];
