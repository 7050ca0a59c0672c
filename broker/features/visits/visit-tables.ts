// The index of visits. It only names candidates: the answer is read from their events, so a row too many costs time and changes nothing.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';

export const visitTables: readonly Statement[] = [
  // Every event up to this number is in the index.
  ddl(`CREATE TABLE visit_state (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    to_no BIGINT NOT NULL)`),
  ddl('INSERT INTO visit_state (one, to_no) VALUES (1, 0)'),
  // In this hour of event time the device has a way in this cell, or a position without one; `slots` says in which 2 minutes (`visit-times.ts`). Cells:
  // `visit-cells.ts`.
  // No references: rows of deleted devices and removed events are removed in small batches (`visit-index.ts`), those of a deleted
  // account with it.
  ddl(`CREATE TABLE visit_cells (
    account_no INTEGER NOT NULL,
    hour INTEGER NOT NULL,
    cell BIGINT NOT NULL,
    device_no INTEGER NOT NULL,
    slots INTEGER NOT NULL,
    PRIMARY KEY (account_no, hour, cell, device_no))`),
];
