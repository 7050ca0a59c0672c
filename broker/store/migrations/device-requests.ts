// What people asked units to tell, and what these answered.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const deviceRequestMigrations: readonly Migration[] = [
  {
    name: '0012-device-requests',
    statements: [
      // `lane`: a device has at most one open request in each: 'position', or 'report' for health and log. `is_open` 0: it has
      // ended. `sent_boot`: boot that the newest envelope was bound to; null while none left. `parts`: of the answer, 0 while
      // nobody knows. An answer that comes after the end by time is still taken: what the unit says is the truth.
      ddl(`CREATE TABLE device_requests (
        request_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        request_id TEXT NOT NULL UNIQUE,
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        kind TEXT NOT NULL CHECK (kind IN ('diagnostic', 'log', 'position')),
        lane TEXT NOT NULL CHECK (lane IN ('report', 'position')),
        issuer TEXT NOT NULL,
        issued_ms BIGINT NOT NULL,
        expires_ms BIGINT NOT NULL,
        request_state TEXT NOT NULL
          CHECK (request_state IN ('requested', 'sent', 'answering', 'answered', 'refused', 'expired')),
        is_open INTEGER NOT NULL DEFAULT 1,
        detail TEXT NOT NULL DEFAULT '',
        parts INTEGER NOT NULL DEFAULT 0,
        answered_ms BIGINT NOT NULL DEFAULT 0,
        sent_boot TEXT)`),
      ddl('CREATE UNIQUE INDEX device_requests_open ON device_requests (device_no, lane) WHERE is_open = 1'),
      ddl('CREATE INDEX device_requests_by_device ON device_requests (device_no, request_no)'),
      ddl('CREATE INDEX device_requests_by_end ON device_requests (expires_ms) WHERE is_open = 1'),
      ddl('CREATE INDEX device_requests_by_time ON device_requests (issued_ms)'),
      // `content`: JSON of the attributes as the unit sent them. Bounded in number and size by what an answer may be.
      ddl(`CREATE TABLE device_answers (
        request_no INTEGER NOT NULL REFERENCES device_requests (request_no) ON DELETE CASCADE,
        part INTEGER NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (request_no, part))`),
    ],
  },
];
