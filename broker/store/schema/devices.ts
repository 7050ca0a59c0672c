// Devices, their last known states and boots, groups, secrets and certificates.

import { witnessesFrom } from '../../../src/core/verdict/witness.ts';
import { ddl } from '../../../src/migrate.ts';
import type { Row, Statement } from '../../../src/ports.ts';
import { flagOf, jsonObjectOrNull, textListOf } from '../base/row.ts';
import { column, table } from '../base/table.ts';

const witnessesOf = (row: Row, name: string) => witnessesFrom(jsonObjectOrNull(row, name));

// `secret_hash`: 256 random bits need no slow hash. `device_no` is never used again after a deletion: a connection that still holds it must not write to another's rows.
// `command_counter`: last one used in an envelope.
// `presence_ms`, `presence_cause`: since when `is_online` is what it is, and why; `agent_since_ms`: since when it runs `agent_version`;
// `linked_ms`: the newer of the two. `usual_silence_ms`: longest usual time between two messages, see `src/core/presence.ts`.
// `boot` .. `time_quality`: as the device said in its last hello.
// `has_absence`: 1 while `absences` has rows of it, so that the trigger of its return runs for these devices only.
// `clone_ms`: when rules were last notified that two units seem to have its identity; 0: never. `unreadable_ms`: the same of what it
// sent and cannot be read.
export const devices = table(
  'devices',
  {
    deviceNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
    accountNo: column('INTEGER NOT NULL', 'hidden'),
    accountID: 'TEXT NOT NULL REFERENCES accounts (account_id)',
    deviceID: 'TEXT NOT NULL',
    /** The account's `fleet_revision` at the last change of what answers show, see `schema/fleet-revisions.ts`. */
    revision: 'BIGINT NOT NULL DEFAULT 0',
    uniqueID: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    sms: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    type: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    description: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown', 'recorded'),
    displayName: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    driver: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    notifyEmail: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    pinColor: column("TEXT NOT NULL DEFAULT '1f77b4'", 'edited', 'shown', 'recorded'),
    pinTag: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown', 'recorded'),
    additionalPinDisplay: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    equipmentTypeID: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    equipmentTypeDesc: column("TEXT NOT NULL DEFAULT ''", 'edited', 'shown'),
    createdS: 'BIGINT NOT NULL',
    /** SHA-256 of the MQTT secret in hexadecimal; null when none was issued. Never leaves the service. */
    secretHash: 'TEXT',
    secretIssuedS: 'BIGINT',
    /** From the last hello; null before the first. */
    boot: 'TEXT',
    nonce: 'TEXT',
    agentVersion: "TEXT NOT NULL DEFAULT ''",
    features: column("TEXT NOT NULL DEFAULT '[]'", textListOf),
    sensors: column("TEXT NOT NULL DEFAULT '[]'", textListOf),
    /** Null when the last hello carried none. */
    witnesses: column('TEXT', witnessesOf, 'shown'),
    /** Owner's key that the unit pins, of its last hello; null: none. `ownerSet`, `ownerList`: versions of its document. */
    ownerPin: column('TEXT', 'shown'),
    ownerSet: column('INTEGER NOT NULL DEFAULT 0', 'shown'),
    ownerList: column('BIGINT NOT NULL DEFAULT 0', 'shown'),
    configVersion: 'BIGINT NOT NULL DEFAULT 0',
    timeQuality: "TEXT NOT NULL DEFAULT 'none'",
    helloMs: 'BIGINT NOT NULL DEFAULT 0',
    isOnline: column('INTEGER NOT NULL DEFAULT 0', flagOf),
    presenceMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    presenceCause: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
    agentSinceMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    linkedMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    commandCounter: 'BIGINT NOT NULL DEFAULT 0',
    /** Broker's time of the last sign of life; 0 for a new device. */
    heartbeatMs: column('BIGINT NOT NULL DEFAULT 0', 'shown'),
    usualSilenceMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    /** Event time of the last position; 0 before the first. */
    fixMs: column('BIGINT NOT NULL DEFAULT 0', 'shown'),
    latitude: column('DOUBLE PRECISION NOT NULL DEFAULT 0', 'shown'),
    longitude: column('DOUBLE PRECISION NOT NULL DEFAULT 0', 'shown'),
    /** km/h; null: not reported. */
    speed: column('DOUBLE PRECISION', 'shown'),
    /** Degrees from true north; null: not reported. */
    heading: column('DOUBLE PRECISION', 'shown'),
    /** Metres. */
    altitude: 'DOUBLE PRECISION NOT NULL DEFAULT 0',
    address: column("TEXT NOT NULL DEFAULT ''", 'shown'),
    geozoneID: column("TEXT NOT NULL DEFAULT ''", 'shown'),
    fixTie: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
    /** Kilometres. */
    odometer: column('DOUBLE PRECISION', 'shown'),
    odometerMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    odometerTie: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
    /** Fraction 0 to 1. */
    fuelLevel: column('DOUBLE PRECISION', 'shown'),
    fuelMs: 'BIGINT NOT NULL DEFAULT 0',
    fuelTie: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
    passengers: column('INTEGER', 'hidden'),
    passengersMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    passengersTie: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
    /** Seats; null when unknown. */
    maxPassengers: column('INTEGER', 'edited', 'shown'),
    diagnostic: column('TEXT', 'hidden'),
    diagnosticMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    diagnosticTie: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
    sessionTurn: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    cloneMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    unreadableMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    hasAbsence: column('INTEGER NOT NULL DEFAULT 0', 'hidden'),
  },
  'UNIQUE (account_id, device_id)',
);

export const deviceGroups = table(
  'device_groups',
  {
    groupNo: column('INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT', 'hidden'),
    accountID: 'TEXT NOT NULL REFERENCES accounts (account_id)',
    groupID: 'TEXT NOT NULL',
    displayName: "TEXT NOT NULL DEFAULT ''",
    description: "TEXT NOT NULL DEFAULT ''",
  },
  'UNIQUE (account_id, group_id)',
);

export const deviceTables: readonly Statement[] = [
  devices.create,
  ddl("CREATE UNIQUE INDEX devices_unique_id ON devices (account_id, unique_id) WHERE unique_id <> ''"),
  // Last known state of every sensor and feature; `state` is '0' or '1' (fuel: the level as decimal text; `bus.*`: a value of the vehicle bus as text).
  // `changed_ms`: event time of the newest report. `*_tie` decides between events of the same millisecond, so that
  // any order of arrival ends in the same state.
  ddl(`CREATE TABLE device_states (
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    changed_ms BIGINT NOT NULL,
    changed_tie TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (device_no, name))`),
  // `up_to`: every event of this boot from 1 to here is committed. `revision` grows with every change of what is stored;
  // an optimistic lock: a writer names the one that it read. `range_count`: rows of the boot in `stored_ranges`.
  // `first_ms`, `last_ms`: earliest and latest time of its events; NULL where it is not known, or its numbers alone tell a repeat.
  ddl(`CREATE TABLE boots (
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    boot TEXT NOT NULL,
    first_seen_ms BIGINT NOT NULL,
    up_to BIGINT NOT NULL DEFAULT 0,
    revision BIGINT NOT NULL DEFAULT 0,
    range_count BIGINT NOT NULL DEFAULT 0,
    first_ms BIGINT,
    last_ms BIGINT,
    PRIMARY KEY (device_no, boot))`),
  deviceGroups.create,
  ddl(`CREATE TABLE group_devices (
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    group_no INTEGER NOT NULL REFERENCES device_groups (group_no),
    PRIMARY KEY (device_no, group_no))`),
  ddl('CREATE INDEX group_devices_by_group ON group_devices (group_no)'),
  ddl(`CREATE TABLE group_users (
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    group_no INTEGER NOT NULL REFERENCES device_groups (group_no),
    PRIMARY KEY (account_id, user_id, group_no),
    FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id))`),
  ddl('CREATE INDEX group_users_by_group ON group_users (group_no)'),
  // A deleted device has no row in `devices`; ON DELETE CASCADE removed its dependants. Its events belong to no device until
  // small batches remove them. `is_purged` 1: done.
  ddl(`CREATE TABLE deleted_devices (
    device_no INTEGER NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    deleted_s BIGINT NOT NULL,
    is_purged INTEGER NOT NULL DEFAULT 0)`),
  ddl('CREATE INDEX deleted_devices_by_time ON deleted_devices (deleted_s)'),
  // Number of one-time codes shown for a device since it got the secret with this hash; each is shown once.
  ddl(`CREATE TABLE service_codes (
    device_no INTEGER NOT NULL PRIMARY KEY REFERENCES devices (device_no) ON DELETE CASCADE,
    secret_hash TEXT NOT NULL,
    shown BIGINT NOT NULL)`),
  // `verifier`: public half of the key that the code gives; it is useless for enrolment. `request_hash`: of the request that
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
  // `serial`: hexadecimal in small letters. Rows of a deleted device go with it: its name is cut off below.
  // `expiry_noted_ms`: when rules were notified that it is about to expire, see `occurrences.ts`.
  ddl(`CREATE TABLE device_certificates (
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    serial TEXT NOT NULL,
    issued_ms BIGINT NOT NULL,
    until_ms BIGINT NOT NULL,
    revoked_ms BIGINT,
    expiry_noted_ms BIGINT,
    PRIMARY KEY (device_no, serial))`),
  ddl(`CREATE INDEX device_certificates_unnoted ON device_certificates (until_ms)
    WHERE expiry_noted_ms IS NULL AND revoked_ms IS NULL`),
  // By name, and kept when the device is deleted: a new device of the same name must not be spoken for by an old
  // certificate. `cut_ms`: one that is not in the table above and was made before this is refused. `changes` counts
  // revocations, so that a live session sees that there was one.
  ddl(`CREATE TABLE certificate_cutoffs (
    account_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    cut_ms BIGINT NOT NULL,
    changes BIGINT NOT NULL,
    PRIMARY KEY (account_id, device_id))`),
  // What live streams missed.
  ddl('CREATE INDEX devices_by_link ON devices (linked_ms, device_no)'),
  ddl('CREATE INDEX devices_online ON devices (account_id, device_no) WHERE is_online = 1'),
  ddl(
    "CREATE INDEX devices_by_message ON devices (device_no) WHERE is_online = 1 AND presence_cause = 'message'",
  ),
  ddl('CREATE INDEX devices_owned ON devices (account_id, owner_pin) WHERE owner_pin IS NOT NULL'),
  ddl('CREATE INDEX devices_offline ON devices (account_id, presence_ms) WHERE is_online = 0'),
];
