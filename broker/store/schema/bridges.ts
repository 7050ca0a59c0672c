// Tables shared by several bridges: leases, cluster logins and turns.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';

export const bridgeTables: readonly Statement[] = [
  // `holder`: the process that does the work; '' while no process does. `beat` grows while it lives: others watch it by their own
  // clocks, so that no two clocks are ever compared.
  ddl(`CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    beat BIGINT NOT NULL)`),
  // One row a vehicle: its newest login. It stays when the device is deleted, until its connection was ended.
  ddl(`CREATE TABLE cluster_logins (
    device_no BIGINT PRIMARY KEY,
    account_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    at_ms BIGINT NOT NULL)`),
  ddl(`CREATE TABLE cluster_turns (name TEXT PRIMARY KEY, turn BIGINT NOT NULL)`),
  // Facts that must be equal at every bridge and at the next start.
  ddl(`CREATE TABLE service_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`),
];
