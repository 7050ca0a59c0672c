// Geozones and routes.
import type { Migration } from '../../../src/migrate.ts';

export const geozoneMigrations: readonly Migration[] = [];
