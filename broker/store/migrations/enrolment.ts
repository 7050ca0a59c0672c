// One-time codes with which a vehicle gets its secret.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const enrolmentMigrations: readonly Migration[] = [
  {
    name: '0010-enrolment',
    statements: [
      // `verifier`: public half of the key that the code gives; nobody can enrol with it. `request_hash`: of the request that
      // used the code; `answer`: what it was answered, sealed to the vehicle's key, to be given again to the same request.
      ddl(`CREATE TABLE enrolment_codes (
        code_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        code_id TEXT NOT NULL UNIQUE,
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        verifier TEXT NOT NULL,
        created_ms BIGINT NOT NULL,
        created_by TEXT NOT NULL,
        expires_ms BIGINT NOT NULL,
        revoked_ms BIGINT,
        used_ms BIGINT,
        used_from TEXT NOT NULL DEFAULT '',
        request_hash TEXT,
        answer TEXT)`),
      ddl('CREATE INDEX enrolment_codes_by_device ON enrolment_codes (device_no)'),
      ddl('CREATE INDEX enrolment_codes_by_end ON enrolment_codes (expires_ms)'),
    ],
  },
];
