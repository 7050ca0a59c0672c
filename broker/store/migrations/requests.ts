// What the HTTP side keeps of requests: idempotency keys.
import type { Migration } from '../../../src/migrate.ts';

export const requestMigrations: readonly Migration[] = [];
