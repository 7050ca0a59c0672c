// Statements on devices: identity, last hello, and last known states of sensors and features. Statements for users take the
// account and never reach another account's row; those of the ingest side take the device number from
// authentication.

import type { Hello } from '../../../src/core/wire/wire.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { pointRead, sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { DeviceKey } from '../../core/device-key.ts';
import { followed } from '../base/live-topic.ts';
import { findsRow, numberOf, readTexts, textOf, textOrNull } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Edits, givenAssignments, type Infer } from '../base/table.ts';
import { devices } from '../schema/devices.ts';
import { isBelowLimit } from './device-limit.ts';
import { type DevicePage, inPage, isNewSince } from './device-page.ts';

export type DeviceRow = Infer<typeof devices>;

export interface DeviceState {
  readonly state: string;
  /** Event time of the newest report of this state; 0 before the first. */
  readonly changedMs: number;
  /** False: it is what a new device has. */
  readonly isReported: boolean;
}

/** The sensors and features of every new device, all in state '0'. */
export const defaultStates = ['cargoaccess', 'fuel', 'enginecutoff', 'ignition', 'panic'] as const;

/** One device of an account, or null; for the service itself. Requests of users go through `findVisibleDevice`. */
export function findDevice(db: Database, key: DeviceKey): Promise<DeviceRow | null> {
  return devices.first(db)(
    sql`SELECT * FROM devices WHERE account_id = ${key.accountID} AND device_id = ${key.deviceID}`,
  );
}

/** One device that the caller may see, or null. */
export function findVisibleDevice(db: Database, scope: Scope, deviceID: string): Promise<DeviceRow | null> {
  return devices.first(db)(
    pointRead(sql`SELECT d.* FROM devices d WHERE ${visible(scope)} AND d.device_id = ${deviceID}`),
  );
}

/** Devices that the caller may see, by device id. */
export function listDevices(db: Database, scope: Scope, page: DevicePage): Promise<readonly DeviceRow[]> {
  return devices.all(db)(sql`
    SELECT d.* FROM devices d WHERE ${visible(scope)} AND ${inPage(page)}
    ORDER BY d.device_id LIMIT ${Math.min(page.limit, devicesMost)}`);
}

/** The ids of `listDevices`, and of one more when there is one. */
export function listDeviceIDs(db: Database, scope: Scope, page: DevicePage): Promise<readonly string[]> {
  return readTexts(db)(sql`SELECT d.device_id FROM devices d WHERE ${visible(scope)} AND ${inPage(page)}
      ORDER BY d.device_id LIMIT ${Math.min(page.limit, devicesMost) + 1}`);
}

/** Most devices per read. */
const devicesMost = 1000;

const toState = (row: Row): DeviceState => {
  const state = textOf(row, 'state');
  const changedMs = numberOf(row, 'changed_ms');
  // A report without a time has a tie-breaker.
  return {
    state,
    changedMs,
    isReported: changedMs > 0 || textOf(row, 'changed_tie') !== '' || state !== '0',
  };
};

/** First and last device id of a page, both included. */
export interface DeviceSpan {
  readonly from: string;
  readonly to: string;
  /** As in `DevicePage`. */
  readonly since?: number | null;
}

/** States of the devices of one page: device number -> name -> state. */
export async function listStates(
  db: Database,
  scope: Scope,
  span: DeviceSpan,
): Promise<ReadonlyMap<number, ReadonlyMap<string, DeviceState>>> {
  const rows = await db.read(sql`
    SELECT s.device_no, s.name, s.state, s.changed_ms, s.changed_tie
    FROM device_states s JOIN devices d ON d.device_no = s.device_no
    WHERE ${visible(scope)} AND d.device_id BETWEEN ${span.from} AND ${span.to}
      AND ${isNewSince(span.since ?? null)}
    ORDER BY s.device_no, s.name`);
  const states = new Map<number, Map<string, DeviceState>>();
  for (const row of rows) {
    const deviceNo = numberOf(row, 'device_no');
    const ofDevice = states.get(deviceNo) ?? new Map<string, DeviceState>();
    ofDevice.set(textOf(row, 'name'), toState(row));
    states.set(deviceNo, ofDevice);
  }
  return states;
}

/** States of one device, whose number came from a statement with the account. */
export async function deviceStates(
  db: Database,
  deviceNo: number,
): Promise<ReadonlyMap<string, DeviceState>> {
  const rows = await db.read(
    sql`SELECT name, state, changed_ms, changed_tie FROM device_states WHERE device_no = ${deviceNo} ORDER BY name`,
  );
  return new Map(rows.map((row) => [textOf(row, 'name'), toState(row)]));
}

/** Members of a device that users may set. */
export type DeviceFields = Edits<typeof devices>;

/**
 * Creates a device with its default states, unless the account is at its limit. An existing device stays unchanged; the caller
 * reads it with `findDevice`.
 * @returns the statements of one batch; the first changes 1 row for a new device, 0 when it exists or the limit is reached.
 */
export function insertDevice(
  key: DeviceKey,
  options: { readonly createdS: number; readonly fields?: DeviceFields },
): readonly Statement[] {
  const { createdS, fields = {} } = options;
  const insert = sql`
    INSERT INTO devices (account_no, account_id, device_id, unique_id, sms, type, description, display_name, driver,
      notify_email, created_s)
    SELECT account_no, account_id, ${key.deviceID}, ${fields.uniqueID ?? ''}, ${fields.sms ?? ''},
      ${fields.type ?? ''}, ${fields.description ?? ''}, ${fields.displayName ?? ''}, ${fields.driver ?? ''},
      ${fields.notifyEmail ?? ''}, ${createdS}
    FROM accounts WHERE account_id = ${key.accountID} AND ${isBelowLimit(key.accountID)}
    ON CONFLICT (account_id, device_id) DO NOTHING`;
  return [insert, ...defaultStates.map((name) => insertState(key, name))];
}

function insertState(key: DeviceKey, name: string): Statement {
  return sql`
    INSERT INTO device_states (device_no, name, state, changed_ms)
    SELECT device_no, ${name}, '0', 0 FROM devices
    WHERE account_id = ${key.accountID} AND device_id = ${key.deviceID}
    ON CONFLICT (device_no, name) DO NOTHING`;
}

/** Changes the given fields only; changes 0 rows when there is no such device. */
export function updateDevice(key: DeviceKey, fields: DeviceFields): Statement {
  return sql`UPDATE devices SET ${givenAssignments(devices.marked('edited'), fields)}
    WHERE account_id = ${key.accountID} AND device_id = ${key.deviceID}`;
}

export type NewSecret = DeviceKey & { readonly secretHash: string; readonly atS: number };

/** Replaces the device's secret; changes 0 rows when there is no such device, or the condition does not hold. */
export function replaceSecret(
  { accountID, deviceID, secretHash, atS }: NewSecret,
  onlyIf: Statement = sql`1 = 1`,
): Statement {
  return sql`UPDATE devices SET secret_hash = ${secretHash}, secret_issued_s = ${atS}
    WHERE account_id = ${accountID} AND device_id = ${deviceID} AND ${onlyIf}`;
}

/** Counters beyond this are a fault of the device: it must not exhaust the broker's own numbers. */
const counterMost = 2 ** 48;
/** Of an integer column. */
const ownerSetMost = 2 ** 31 - 1;

/**
 * Stores a device's hello and marks it online. The command counter never falls behind the device's own: after a restore
 * from a backup the device would refuse every further command. Returns `command_counter`: envelopes with it or a lower one
 * were sent on an earlier connection. No row when there is no such device, or a later turn has reported.
 */
export function recordHello(
  deviceNo: number,
  hello: Hello,
  { atMs, turn }: { readonly atMs: number; readonly turn?: number | undefined },
): Statement {
  const witnesses = hello.witnesses === undefined ? null : JSON.stringify(hello.witnesses);
  const counter = hello.commandCounter <= counterMost ? hello.commandCounter : 0;
  const { pin = null, set = 0, list = 0 } = hello.owner ?? {};
  return followed(sql`
    UPDATE devices SET boot = ${hello.boot}, nonce = ${hello.nonce}, agent_version = ${hello.agentVersion},
      features = ${JSON.stringify(hello.features)}, sensors = ${JSON.stringify(hello.sensors)},
      witnesses = ${witnesses}, owner_pin = ${pin}, owner_set = ${Math.min(set, ownerSetMost)}, owner_list = ${Math.min(list, counterMost)},
      time_quality = ${hello.timeQuality}, hello_ms = ${atMs},
      heartbeat_ms = CASE WHEN heartbeat_ms < ${atMs} THEN ${atMs} ELSE heartbeat_ms END,
      command_counter = CASE WHEN command_counter < ${counter} THEN ${counter} ELSE command_counter END,
      linked_ms = CASE WHEN is_online = 0 OR agent_version <> ${hello.agentVersion} THEN ${atMs} ELSE linked_ms END,
      agent_since_ms = CASE WHEN agent_version <> ${hello.agentVersion} THEN ${atMs} ELSE agent_since_ms END,
      ${presentSince(true, { atMs, cause: 'hello' })}, is_online = 1${takeTurn(turn)}
    WHERE device_no = ${deviceNo}${isNotOver(turn)} RETURNING command_counter`);
}

/** The boot of the device's current connection, whichever process has it; null when it is offline. */
export async function presentBoot(db: Database, deviceNo: number): Promise<string | null> {
  const [row] = await db.read(sql`SELECT boot FROM devices WHERE device_no = ${deviceNo} AND is_online = 1`);
  return row === undefined ? null : textOrNull(row, 'boot');
}

/**
 * With several processes (see `Uplink.turn`): a slow one must not undo what a later one recorded. The condition is on the row
 * itself, so it holds under concurrency.
 */
const takeTurn = (turn: number | undefined): Statement =>
  turn === undefined ? sql`` : sql`, session_turn = ${turn}`;
const isNotOver = (turn: number | undefined): Statement =>
  turn === undefined ? sql`` : sql` AND session_turn <= ${turn}`;

/**
 * Cause of presence: its hello, the end of its connection, a stop or start of the service, or the cluster. Of a device without
 * hellos: a `message`, or it was `silent` for too long.
 */
type PresenceCause = 'hello' | 'closed' | 'service' | 'cluster';

/** When a presence was recorded, and why. */
export interface PresenceMark {
  /** Broker's time, UTC ms. */
  readonly atMs: number;
  readonly cause: PresenceCause;
}

/** Time and cause, for an update of `is_online`; unchanged when that does not change. */
function presentSince(isOnline: boolean, { atMs, cause }: PresenceMark): Statement {
  const isChanged = isOnline ? sql`(is_online = 0 OR presence_cause = 'message')` : sql`is_online = 1`;
  return sql`presence_ms = CASE WHEN ${isChanged} THEN ${atMs} ELSE presence_ms END,
    presence_cause = CASE WHEN ${isChanged} THEN ${cause} ELSE presence_cause END`;
}

/** A device that sends without a hello is not offline because a connection ended: it may connect for each message. */
const isByHello = sql`presence_cause <> 'message'`;

/** Marks a device online or offline. */
export function setOnline(deviceNo: number, isOnline: boolean, mark: PresenceMark, turn?: number): Statement {
  return followed(sql`UPDATE devices SET
      linked_ms = CASE WHEN is_online = ${isOnline ? 0 : 1} THEN ${mark.atMs} ELSE linked_ms END,
      ${presentSince(isOnline, mark)}, is_online = ${isOnline ? 1 : 0}${takeTurn(turn)}
    WHERE device_no = ${deviceNo}${isNotOver(turn)}${isOnline ? sql`` : sql` AND ${isByHello}`}`);
}

/** For a process that has all connections: after its start no unit that says hello is connected. @param atMs broker's time, UTC ms. */
export function setAllOffline(atMs: number): Statement {
  return followed(sql`UPDATE devices SET linked_ms = ${atMs}, presence_ms = ${atMs}, presence_cause = 'service',
      is_online = 0
    WHERE is_online = 1 AND ${isByHello}`);
}

/** False after the device was deleted. */
export async function deviceExists(db: Database, deviceNo: number): Promise<boolean> {
  return findsRow(db)(sql`SELECT 1 FROM devices WHERE device_no = ${deviceNo}`);
}
