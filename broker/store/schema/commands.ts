// The command ledger, approvals by a second user, messages to and from vehicles.
import type { CommandState, FeatureName } from '../../../src/core/events/event.ts';
import type { Verdict } from '../../../src/core/verdict/verdict.ts';
import { type Assertion } from '../../../src/core/wire/assertion.ts';
import { ddl } from '../../../src/migrate.ts';
import type { Row, Statement } from '../../../src/ports.ts';
import { flagOf, jsonObjectOrNull, jsonOrNull, textOf } from '../base/row.ts';
import { column, type Reader, table } from '../base/table.ts';

/** `advanceCommand` wrote it. */
const verdictOf = (row: Row, name: string) => jsonObjectOrNull(row, name) as Verdict | null;
/** The service wrote them. */
const signaturesOf = (row: Row, name: string) => jsonOrNull(row, name) as readonly Signature[] | null;
const assertionsOf = (row: Row, name: string) => jsonOrNull(row, name) as readonly Assertion[] | null;

// The ledger. `state_rank` orders the states so that a late report cannot set an earlier state; `is_final` 1 ends the
// command. At most one unfinished command per feature of a device: the newest replaces an older one. Rank 5: end
// presumed by the broker; rank 6: end reported by the device, which takes precedence. `reported_ms` and
// `reported_tie` belong to the newest report of the present rank. `cancel_by`: user of its withdrawal.
// `asked_us`: when state `0` was last asked for, a repeat too, as a point in the order of arrival (epoch
// microseconds). `detail`: text of that report. `verdict`: the rules of the interlock in it as JSON, see
// `src/core/verdict/verdict.ts`; null when it sent none. `approval_id`, `approver`: the approval that a cut came
// from, and its approver. A firmware job is stored here too, with the feature `firmware`; `content` then describes it
// as JSON, and is null for all others.
export const commands = table('commands', {
  commandID: 'TEXT NOT NULL PRIMARY KEY',
  deviceNo: 'INTEGER NOT NULL REFERENCES devices (device_no)',
  feature: column('TEXT NOT NULL', textOf as Reader<FeatureName | 'firmware'>),
  state: "TEXT NOT NULL CHECK (state IN ('0', '1'))",
  reason: 'TEXT NOT NULL',
  issuer: 'TEXT NOT NULL',
  issuedMs: 'BIGINT NOT NULL',
  expiresMs: 'BIGINT NOT NULL',
  askedUs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
  commandState: column('TEXT NOT NULL', textOf as Reader<CommandState>),
  stateRank: 'INTEGER NOT NULL',
  /** Reason of waiting or refusal, as the vehicle wrote it; empty when it sent none. */
  detail: "TEXT NOT NULL DEFAULT ''",
  /** The same as rules of the interlock; null when the newest report carried none. */
  verdict: column('TEXT', verdictOf),
  isFinal: column('INTEGER NOT NULL DEFAULT 0', flagOf),
  updatedMs: 'BIGINT NOT NULL',
  /** Event time of the device's newest report; 0 before the first. */
  reportedMs: 'BIGINT NOT NULL DEFAULT 0',
  reportedTie: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
  /** User of its withdrawal; null: none was requested. */
  cancelBy: 'TEXT',
  /** Approval that it came from, and its approver; null when none was needed. */
  approvalID: 'TEXT UNIQUE',
  approver: 'TEXT',
  /** JSON of a firmware job; null for all others. */
  content: 'TEXT',
  /** 0: it counts in no limit of commands. */
  isCounted: column('INTEGER NOT NULL DEFAULT 1', 'hidden'),
  /** Boot that the newest envelope was bound to, and its counter; null while it was never sent. */
  sentBoot: 'TEXT',
  sentCounter: 'BIGINT',
  /** Of an order that the owner's persons signed: the only boot and counter that it may be sent with, and their assertions; else null. */
  reservedBoot: 'TEXT',
  reservedCounter: 'BIGINT',
  assertions: column('TEXT', assertionsOf),
});

/** A person of the owner's list who agreed to an order. */
export interface Signature {
  readonly personID: string;
  readonly name: string;
  /** User of the session. */
  readonly userID: string;
  readonly atMs: number;
  readonly assertion: Assertion;
}

// A cut that waits for a second user, or a restrictive order that waits for the owner's persons; nothing is sent before
// `approval_state` is 'approved', which one batch sets together with the command. 'void': it can no longer be carried out
// as it was signed; `end_cause` says why. `expires_ms` ends the waiting, `command_expires_ms` the command that may result.
// At most one waits for each feature of a device. `decided_by`: user of the approval, refusal or withdrawal; null while it waits.
export const approvals = table('approvals', {
  approvalID: 'TEXT NOT NULL PRIMARY KEY',
  deviceNo: 'INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE',
  approvalState:
    "TEXT NOT NULL CHECK (approval_state IN ('pending', 'approved', 'refused', 'withdrawn', 'expired', 'void'))",
  reason: 'TEXT NOT NULL',
  requestedBy: 'TEXT NOT NULL',
  requestedMs: 'BIGINT NOT NULL',
  expiresMs: 'BIGINT NOT NULL',
  commandExpiresMs: 'BIGINT NOT NULL',
  decidedBy: 'TEXT',
  decidedMs: 'BIGINT',
  /** Why it was refused; null without a reason. */
  decidedReason: 'TEXT',
  commandID: 'TEXT',
  feature: column("TEXT NOT NULL DEFAULT 'enginecutoff'", textOf as Reader<FeatureName>),
  /** Second user of a signed order, where the account wants one; null: none yet. */
  secondUser: 'TEXT',
  /** Of a signed order, else null: the key of its owner; the boot and the counter that it is bound to; persons who must agree, and who did. */
  ownerPin: 'TEXT',
  boot: 'TEXT',
  counter: 'BIGINT',
  needed: 'INTEGER',
  signatures: column('TEXT', signaturesOf),
  /** When the newest person agreed. */
  signedMs: 'BIGINT',
  endCause: "TEXT CHECK (end_cause IN ('restarted', 'counter', 'list'))",
});

// The owner's document as an administrator gave it, one for each key. Nothing here can make or change one.
export const ownerDocuments = table(
  'owner_documents',
  {
    accountID: 'TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE',
    pin: 'TEXT NOT NULL',
    document: 'TEXT NOT NULL',
    setVersion: 'INTEGER NOT NULL',
    /** 0: it has no list. */
    listVersion: 'BIGINT NOT NULL',
    uploadedMs: 'BIGINT NOT NULL',
    uploadedBy: 'TEXT NOT NULL',
  },
  'PRIMARY KEY (account_id, pin)',
);

export const commandTables: readonly Statement[] = [
  commands.create,
  ddl('CREATE UNIQUE INDEX commands_unfinished ON commands (device_no, feature) WHERE is_final = 0'),
  ddl('CREATE INDEX commands_by_device ON commands (device_no, issued_ms)'),
  // What is limited in number is counted by time.
  ddl("CREATE INDEX commands_limited ON commands (issued_ms) WHERE state = '1'"),
  approvals.create,
  ddl(
    "CREATE UNIQUE INDEX approvals_pending ON approvals (device_no, feature) WHERE approval_state = 'pending'",
  ),
  ddl('CREATE INDEX approvals_by_device ON approvals (device_no, requested_ms)'),
  ddl('CREATE INDEX approvals_by_time ON approvals (requested_ms)'),
  // From people to a vehicle. `delivered_ms`: when the vehicle confirmed that it has it; null until then.
  // Messages from vehicles are events.
  ddl(`CREATE TABLE messages (
    message_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    message_id TEXT NOT NULL UNIQUE,
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    text TEXT NOT NULL,
    sender TEXT NOT NULL,
    sent_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    delivered_ms BIGINT)`),
  ddl('CREATE INDEX messages_by_device ON messages (device_no, message_no)'),
  ddl('CREATE INDEX commands_by_change ON commands (updated_ms)'),
  ddl(
    'CREATE INDEX approvals_by_change ON approvals (COALESCE(decided_ms, signed_ms, requested_ms), approval_id)',
  ),
  ddl(
    'CREATE INDEX commands_reserved ON commands (device_no) WHERE is_final = 0 AND reserved_boot IS NOT NULL',
  ),
  ownerDocuments.create,
  // The newest firmware job of a device.
  ddl(
    "CREATE INDEX commands_firmware ON commands (device_no, issued_ms, command_id) WHERE feature = 'firmware'",
  ),
];
