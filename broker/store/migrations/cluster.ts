// What several bridges behind a cluster share: with what each vehicle logged in there, whose turn it is to take what vehicles
// say of themselves, and under which turn that was last taken.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const clusterMigrations: readonly Migration[] = [
  {
    name: '0016-cluster',
    statements: [
      // One row a vehicle: its newest login. It stays when the device is deleted, until its connection was ended.
      ddl(`CREATE TABLE cluster_logins (
        device_no BIGINT PRIMARY KEY,
        account_id TEXT NOT NULL,
        device_id TEXT NOT NULL,
        secret_hash TEXT NOT NULL,
        at_ms BIGINT NOT NULL)`),
      ddl(`CREATE TABLE cluster_turns (name TEXT PRIMARY KEY, turn BIGINT NOT NULL)`),
      // What must be the same at every bridge.
      ddl(`CREATE TABLE cluster_facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)`),
      ddl(`ALTER TABLE devices ADD COLUMN session_turn BIGINT NOT NULL DEFAULT 0`),
    ],
  },
];
