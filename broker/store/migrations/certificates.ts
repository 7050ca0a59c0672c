// Certificates of devices that the broker knows, and which of them no longer count.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const certificateMigrations: readonly Migration[] = [
  {
    name: '0011-certificates',
    statements: [
      // `serial`: hexadecimal in small letters. Rows of a deleted device go with it: its name is cut off below.
      ddl(`CREATE TABLE device_certificates (
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        serial TEXT NOT NULL,
        issued_ms BIGINT NOT NULL,
        until_ms BIGINT NOT NULL,
        revoked_ms BIGINT,
        PRIMARY KEY (device_no, serial))`),
      // By name, and kept when the device is deleted: a new device of the same name must not be spoken for by an old
      // certificate. `cut_ms`: one that is not in the table above and was made before this is refused. `changes` counts
      // revocations, so that a live session sees that there was one.
      ddl(`CREATE TABLE certificate_cutoffs (
        account_id TEXT NOT NULL,
        device_id TEXT NOT NULL,
        cut_ms BIGINT NOT NULL,
        changes BIGINT NOT NULL,
        PRIMARY KEY (account_id, device_id))`),
    ],
  },
];
