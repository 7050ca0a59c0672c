// Indexes of what is looked at all the time: what a live stream missed, commands that changed, who is
// online, the audit log by page.
import { ddl, type Migration } from '../../../src/migrate.ts';
import { notRoutine } from '../routine-codes.ts';

export const liveMigrations: readonly Migration[] = [
  {
    name: '0009-live',
    statements: [
      // What an account's streams missed since an event number. Routine events are left out, so that it costs the store
      // nothing for what vehicles send all the time.
      ddl(`CREATE INDEX events_by_number ON events (account_no, event_no) WHERE ${notRoutine}`),
      ddl('CREATE INDEX commands_by_change ON commands (updated_ms)'),
      ddl('CREATE INDEX devices_online ON devices (account_id, device_no) WHERE is_online = 1'),
    ],
  },
  {
    name: '0009-audit-pages',
    statements: [
      ddl('CREATE INDEX audit_by_account ON audit (account_id, audit_no)'),
      ddl('CREATE INDEX audit_by_object ON audit (account_id, object, audit_no)'),
    ],
  },
];
