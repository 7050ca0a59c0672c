// What stands around the command ledger: approvals, firmware jobs, messages to and from vehicles.
import type { Migration } from '../../../src/migrate.ts';

export const ledgerMigrations: readonly Migration[] = [];
