// The ways of vehicles, and up to when each device's events were read for them.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { trigger } from '../../store/schema/trigger.ts';

export const wayTables: readonly Statement[] = [
  // `to_ms`: event time that the ways are read up to; `read_ms`: when they were read last.
  ddl(`CREATE TABLE way_states (
    device_no INTEGER NOT NULL PRIMARY KEY REFERENCES devices (device_no) ON DELETE CASCADE,
    to_ms BIGINT NOT NULL,
    read_ms BIGINT NOT NULL)`),
  // `device_no` 0: the ways of all devices of the account, thinned together. `period`: see `way-tracks.ts`. `lines`: see
  // `way-lines.ts`; NULL: of the whole account, to be made again from those of its devices. `revision`: another one after each change.
  ddl(`CREATE TABLE ways (
    account_no INTEGER NOT NULL REFERENCES accounts (account_no) ON DELETE CASCADE,
    zoom INTEGER NOT NULL,
    x INTEGER NOT NULL,
    y INTEGER NOT NULL,
    device_no INTEGER NOT NULL,
    period INTEGER NOT NULL,
    lines BLOB,
    revision BIGINT NOT NULL,
    PRIMARY KEY (account_no, zoom, x, y, device_no, period))`),
  ddl('CREATE INDEX ways_by_device ON ways (device_no) WHERE device_no > 0'),
  ddl('CREATE INDEX ways_by_period ON ways (period)'),
  ddl('CREATE INDEX ways_to_make ON ways (account_no) WHERE lines IS NULL'),
  // Of a deleted device nothing is shown any more, from the same commit on.
  trigger({
    name: 'ways_of_deleted',
    after: 'DELETE ON devices',
    run: [
      `UPDATE ways SET lines = NULL, revision = revision + 1 WHERE account_no = OLD.account_no AND device_no = 0
        AND (zoom, x, y, period) IN (SELECT w.zoom, w.x, w.y, w.period FROM ways w
          WHERE w.device_no = OLD.device_no AND w.device_no > 0);`,
      'DELETE FROM ways WHERE device_no = OLD.device_no AND device_no > 0;',
    ],
  }),
];
