// What the HTTP side keeps of requests: idempotency keys.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const requestMigrations: readonly Migration[] = [
  {
    name: '0005-idempotency',
    statements: [
      // `account_id` is no reference: a row lives for a day and is in nobody's way. `answer` is null while the first request
      // runs, and stays null when nobody knows how it ended.
      ddl(`CREATE TABLE idempotency_keys (
        key_hash TEXT NOT NULL PRIMARY KEY,
        account_id TEXT NOT NULL,
        request_hash TEXT NOT NULL,
        claimed_ms BIGINT NOT NULL,
        answer TEXT)`),
      ddl('CREATE INDEX idempotency_keys_by_account ON idempotency_keys (account_id)'),
      ddl('CREATE INDEX idempotency_keys_by_age ON idempotency_keys (claimed_ms)'),
    ],
  },
];
