// Triggers that number visible changes of an account's devices: every such commit raises `accounts.fleet_revision`, and the
// device gets that number. A cache compares one number; no later statement can forget to raise it. Ingest numbers its devices
// itself, one step for a whole commit, and the trigger leaves these alone. `device_states` has none: it changes together with
// its device, in one batch.
import type { Statement } from '../../../src/ports.ts';
import { columnOf } from '../base/table.ts';
import { devices } from './devices.ts';
import { trigger } from './trigger.ts';

type Row = 'NEW' | 'OLD';
/** The account of the row, or of its device. */
type Owner = 'account_id' | 'device_no';

const accountOf = (row: Row, owner: Owner): string =>
  owner === 'account_id'
    ? `${row}.account_id`
    : `(SELECT d.account_id FROM devices d WHERE d.device_no = ${row}.device_no)`;

/** @param also a further revision of the account that takes the same number. */
const raise = (account: string, also?: 'members_revision' | 'zones_revision'): string =>
  `UPDATE accounts SET fleet_revision = fleet_revision + 1${also === undefined ? '' : `, ${also} = fleet_revision + 1`}
      WHERE account_id = ${account};`;

const markDevice = (row: Row): string =>
  `UPDATE devices SET revision = (SELECT a.fleet_revision FROM accounts a WHERE a.account_id = devices.account_id)
      WHERE device_no = ${row}.device_no;`;

/** For a table whose rows belong to a device and are shown with it while `isShown` holds. */
const pendingTriggers = (table: string, isShown: (row: Row) => string): readonly Statement[] => {
  const run = (row: Row) => [raise(accountOf(row, 'device_no')), markDevice(row)];
  return [
    trigger({ name: `${table}_added`, after: `INSERT ON ${table}`, when: isShown('NEW'), run: run('NEW') }),
    trigger({
      name: `${table}_changed`,
      after: `UPDATE ON ${table}`,
      when: `${isShown('NEW')} OR ${isShown('OLD')}`,
      run: run('NEW'),
    }),
    trigger({ name: `${table}_removed`, after: `DELETE ON ${table}`, when: isShown('OLD'), run: run('OLD') }),
  ];
};

/** For a table whose rows decide which devices a user sees. */
const memberTriggers = (table: string, owner: Owner): readonly Statement[] => [
  trigger({
    name: `${table}_added`,
    after: `INSERT ON ${table}`,
    run: [raise(accountOf('NEW', owner), 'members_revision')],
  }),
  trigger({
    name: `${table}_removed`,
    after: `DELETE ON ${table}`,
    run: [raise(accountOf('OLD', owner), 'members_revision')],
  }),
];

const userTrigger = trigger({
  name: 'users_changed',
  after: 'UPDATE OF sees_all, role ON users',
  run: [raise('NEW.account_id', 'members_revision')],
});

const zoneTriggers = (['INSERT', 'UPDATE', 'DELETE'] as const).map((change) =>
  trigger({
    name: `geozones_${change.toLowerCase()}`,
    after: `${change} ON geozones`,
    run: [raise(change === 'DELETE' ? 'OLD.account_id' : 'NEW.account_id', 'zones_revision')],
  }),
);

// Records of every account go with a slice, the last position of a silent device among them.
const sliceTrigger = trigger({
  name: 'event_slices_dropping',
  after: 'UPDATE OF state ON event_slices',
  when: "NEW.state = 'dropping'",
  run: ['UPDATE accounts SET fleet_revision = fleet_revision + 1;'],
});

const recordColumns = devices.marked('recorded').map(columnOf);

const recordTrigger = trigger({
  name: 'device_records_changed',
  after: `UPDATE OF ${recordColumns.join(', ')} ON devices`,
  when: recordColumns.map((name) => `NEW.${name} <> OLD.${name}`).join(' OR '),
  run: ['UPDATE accounts SET record_revision = record_revision + 1 WHERE account_id = NEW.account_id;'],
});

export const fleetRevisionTriggers: readonly Statement[] = [
  trigger({
    name: 'devices_added',
    after: 'INSERT ON devices',
    run: [raise('NEW.account_id', 'members_revision'), markDevice('NEW')],
  }),
  trigger({
    name: 'devices_removed',
    after: 'DELETE ON devices',
    run: [raise('OLD.account_id', 'members_revision')],
  }),
  trigger({
    name: 'devices_changed',
    after: `UPDATE OF ${devices.marked('shown').map(columnOf).join(', ')} ON devices`,
    when: 'NEW.revision = OLD.revision',
    run: [raise('NEW.account_id'), markDevice('NEW')],
  }),
  ...pendingTriggers('commands', (row) => `${row}.is_final = 0`),
  ...pendingTriggers('approvals', (row) => `${row}.approval_state = 'pending'`),
  ...memberTriggers('group_devices', 'device_no'),
  ...memberTriggers('group_users', 'account_id'),
  userTrigger,
  recordTrigger,
  ...zoneTriggers,
  sliceTrigger,
];
