// Statements on the command ledger. Every change is conditional: the rank of a state only grows, except that a vehicle may wait
// again after it has begun. A finished command stays finished, and a late report changes nothing, in any order of arrival.

import type { CommandState, FeatureState } from '../../../src/core/events/event.ts';
import type { Verdict } from '../../../src/core/verdict/verdict.ts';
import type { Assertion } from '../../../src/core/wire/assertion.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { followed } from '../base/live-topic.ts';
import { readNumber } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { deviceRef, type Infer, shape } from '../base/table.ts';
import type { DeviceSpan } from '../devices/devices.ts';
import { commands } from '../schema/commands.ts';

const ofDevice = shape({ ...commands.columns, ...deviceRef });
/** The command of a row of `selectCommand`. */
export const toCommand = ofDevice.toRecord;
export type CommandRow = Infer<typeof ofDevice>;
/** Target of a command: a relay, or the unit's firmware. */
export type LedgerFeature = CommandRow['feature'];

/** Order of the states. 5: the broker presumes the end; 6: the device reported it, which decides. */
export const ranks = {
  requested: 0,
  sent: 1,
  received: 2,
  armed: 3,
  executing: 4,
  unknown: 4,
  confirmed: 6,
  refused: 6,
  expired: 6,
  superseded: 6,
  cancelled: 6,
} as const satisfies Record<CommandState, number>;

/** Rank of an end that the broker presumes until the device reports otherwise. */
export const presumedRank = 5;

/** From this rank on the device has the command. */
export const receivedRank = ranks.received;

/** Replaced commands that are withdrawn per hello; a device holds two of a feature at most. */
const replacedMost = 16;
/** Longest life of a command: older ones of a device are not read. */
const longestLifeMs = 31 * 86_400_000;

/** End states after which an equal order is a new command. */
const failures: readonly CommandState[] = ['refused', 'expired', 'cancelled', 'superseded'];

/** Commands with their devices; aliases `c` and `d`. */
export const selectCommand = sql`SELECT c.*, d.account_id, d.device_id FROM commands c
  JOIN devices d ON d.device_no = c.device_no`;

/** Commands by conditions on the aliases `c` and `d`. */
export const readCommands = (db: Database, rest: Statement): Promise<readonly CommandRow[]> =>
  ofDevice.all(db)(sql`${selectCommand} ${rest}`);

const firstCommand = (db: Database, rest: Statement): Promise<CommandRow | null> =>
  ofDevice.first(db)(sql`${selectCommand} ${rest}`);

/** One command of an account, or null. */
export async function findCommand(
  db: Database,
  key: { readonly accountID: string; readonly commandID: string },
): Promise<CommandRow | null> {
  return firstCommand(db, sql`WHERE d.account_id = ${key.accountID} AND c.command_id = ${key.commandID}`);
}

/** Unfinished commands of the devices of one page, oldest first. */
export async function unfinishedCommands(
  db: Database,
  scope: Scope,
  span: DeviceSpan,
): Promise<readonly CommandRow[]> {
  return readCommands(
    db,
    sql`WHERE ${visible(scope)} AND d.device_id BETWEEN ${span.from} AND ${span.to} AND c.is_final = 0
    ORDER BY c.issued_ms, c.command_id`,
  );
}

/** Unfinished commands of one device, oldest first. */
export async function unfinishedOf(db: Database, deviceNo: number): Promise<readonly CommandRow[]> {
  return readCommands(
    db,
    sql`WHERE c.device_no = ${deviceNo} AND c.is_final = 0 ORDER BY c.issued_ms, c.command_id`,
  );
}

/** It was sent, then replaced by a newer order or given up for the next boot, and the device has not reported its outcome. */
const isReplaced = sql`c.state = '1' AND c.command_state IN ('superseded', 'refused') AND c.state_rank = ${presumedRank}
  AND c.sent_boot IS NOT NULL`;

/**
 * Replaced commands that a device may still hold and execute, as the newer command was withdrawn or expired before it
 * arrived. Never one towards the safe state.
 */
export async function replacedOf(
  db: Database,
  deviceNo: number,
  nowMs: number,
): Promise<readonly CommandRow[]> {
  return readCommands(
    db,
    sql`WHERE c.device_no = ${deviceNo} AND c.issued_ms > ${nowMs - longestLifeMs} AND ${isReplaced}
      AND c.expires_ms > ${nowMs}
      AND NOT EXISTS (SELECT 1 FROM commands n WHERE n.device_no = c.device_no AND n.feature = c.feature
        AND n.is_final = 0 AND n.cancel_by IS NULL)
    ORDER BY c.issued_ms DESC, c.command_id DESC LIMIT ${replacedMost}`,
  );
}

/** The newest command of one feature of a device, finished or not; null when there is none. */
export async function newestCommand(
  db: Database,
  of: { readonly deviceNo: number; readonly feature: LedgerFeature },
): Promise<CommandRow | null> {
  return firstCommand(
    db,
    sql`WHERE c.device_no = ${of.deviceNo} AND c.feature = ${of.feature}
    ORDER BY c.issued_ms DESC, c.command_id DESC LIMIT 1`,
  );
}

/** Issue time of a device's newest command; 0: none. */
export async function newestIssuedMs(db: Database, deviceNo: number): Promise<number> {
  const newest = sql`SELECT MAX(issued_ms) AS newest_ms FROM commands WHERE device_no = ${deviceNo}`;
  return (await readNumber(db)(newest)) ?? 0;
}

/** Cursor of a listing: the last command already read, exclusive. */
export interface CommandCursor {
  readonly issuedMs: number;
  readonly commandID: string;
}

/** Commands of one device, newest first, finished or not. */
export async function listCommands(
  db: Database,
  of: { readonly deviceNo: number; readonly before: CommandCursor | null; readonly limit: number },
): Promise<readonly CommandRow[]> {
  const { deviceNo, before, limit } = of;
  const older =
    before === null
      ? sql``
      : sql` AND (c.issued_ms, c.command_id) < (${before.issuedMs}, ${before.commandID})`;
  return readCommands(
    db,
    sql`WHERE c.device_no = ${deviceNo}${older}
    ORDER BY c.issued_ms DESC, c.command_id DESC LIMIT ${limit}`,
  );
}

export interface NewCommand {
  readonly deviceNo: number;
  readonly commandID: string;
  readonly feature: LedgerFeature;
  readonly state: FeatureState;
  readonly reason: string;
  readonly issuer: string;
  readonly issuedMs: number;
  readonly expiresMs: number;
  /** Point in the order of arrival at which it was decided (epoch microseconds); for state `0`. */
  readonly askedUs?: number;
  /** An equal command of the same issuer issued after this is a repeat: nothing is inserted. */
  readonly sameSinceMs: number;
  /** JSON of a firmware job. */
  readonly content?: string;
  /** False: it has a pace of its own and counts in no limit of commands. Absent: it counts. */
  readonly isCounted?: boolean;
  readonly approval?: { readonly approvalID: string; readonly approver: string | null };
  /** Of an order that the owner's persons signed. */
  readonly signed?: Reserved & { readonly assertions: readonly Assertion[] };
}

/** The only boot and counter that a signed order may be sent with. */
export interface Reserved {
  readonly boot: string;
  readonly counter: number;
}

/** What its next envelope must have; null: any. A withdrawal needs no signatures, nor does an order that the unit has. */
export function reservedOf(row: CommandRow): Reserved | null {
  const { reservedBoot: boot, reservedCounter: counter, stateRank, cancelBy, commandState } = row;
  if (boot === null || counter === null || cancelBy !== null) return null;
  return stateRank < receivedRank && commandState !== 'superseded' ? { boot, counter } : null;
}

/**
 * True in SQL when the newest command of the feature is the same order and has not failed. One with a later time was issued
 * before the clock was set back and need not be the newest. A finished order for the safe state is never taken for a new
 * one, as the engine may have been cut since. A command that is being withdrawn is never repeated.
 */
export function isRepeat(command: NewCommand): Statement {
  return sql`EXISTS (SELECT 1 FROM commands n WHERE n.command_id = (
      SELECT m.command_id FROM commands m
      WHERE m.device_no = ${command.deviceNo} AND m.feature = ${command.feature}
      ORDER BY m.issued_ms DESC, m.command_id DESC LIMIT 1)
    AND n.state = ${command.state} AND n.issuer = ${command.issuer} AND n.issued_ms > ${command.sameSinceMs}
    AND n.issued_ms <= ${command.issuedMs} AND n.cancel_by IS NULL AND (n.state = '1' OR n.is_final = 0)
    AND COALESCE(n.content, '') = ${command.content ?? ''} AND n.command_state NOT IN (${valueList(failures)}))`;
}

/** The same decision on the newest command of the feature, after it was read. */
export function repeats(newest: CommandRow, command: NewCommand): boolean {
  const isSame =
    newest.state === command.state &&
    newest.issuer === command.issuer &&
    newest.content === (command.content ?? null);
  const isNear = newest.issuedMs > command.sameSinceMs && newest.issuedMs <= command.issuedMs;
  const isOpen = newest.cancelBy === null && (newest.state === '1' || !newest.isFinal);
  return isSame && isNear && isOpen && !failures.includes(newest.commandState);
}

/** Condition: the command is recorded. For later statements of its batch. */
export function isRecorded(commandID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM commands WHERE command_id = ${commandID})`;
}

/**
 * Records a command and replaces the unfinished one of the same feature, unless it is a repeat or not permitted: then
 * neither is changed. One batch.
 */
export function supersedeAndInsert(command: NewCommand, isPermitted: Statement): readonly Statement[] {
  const { approval, signed } = command;
  return [
    followed(sql`UPDATE commands SET command_state = 'superseded', state_rank = ${presumedRank}, is_final = 1,
        updated_ms = ${command.issuedMs}
      WHERE device_no = ${command.deviceNo} AND feature = ${command.feature} AND is_final = 0
        AND NOT ${isRepeat(command)} AND ${isPermitted}`),
    followed(sql`INSERT INTO commands (command_id, device_no, feature, state, reason, issuer, issued_ms, expires_ms,
        asked_us, command_state, state_rank, updated_ms, content, approval_id, approver, is_counted,
        reserved_boot, reserved_counter, assertions)
      SELECT ${command.commandID}, device_no, ${command.feature}, ${command.state}, ${command.reason},
        ${command.issuer}, ${command.issuedMs}, ${command.expiresMs}, ${command.askedUs ?? 0}, 'requested', 0, ${command.issuedMs},
        ${command.content ?? null}, ${approval?.approvalID ?? null}, ${approval?.approver ?? null},
        ${command.isCounted === false ? 0 : 1}, ${signed?.boot ?? null}, ${signed?.counter ?? null},
        ${signed === undefined ? null : JSON.stringify(signed.assertions)}
      FROM devices WHERE device_no = ${command.deviceNo} AND NOT ${isRepeat(command)} AND ${isPermitted}`),
  ];
}

export interface CommandReport {
  readonly deviceNo: number;
  readonly commandID: string;
  readonly commandState: CommandState;
  readonly detail: string;
  readonly verdict: Verdict | null;
  /** Event time and tie-breaker of the report: of two reports of one rank the newer one stays. */
  readonly reportedMs: number;
  readonly tie: string;
  readonly atMs: number;
}

/**
 * Applies a device's report; null for a state that no device can report. Replays and late reports change nothing. A vehicle that has begun waits again
 * when something spoke against its order before that was on the wire, or the relay did not follow.
 */
export function advanceCommand(report: CommandReport): Statement | null {
  const rank = ranks[report.commandState];
  if (rank < receivedRank) return null;
  const isFinal = rank > presumedRank ? 1 : 0;
  const backFromRank = report.commandState === 'armed' ? ranks.executing : rank;
  const verdict = report.verdict === null ? null : JSON.stringify(report.verdict);
  return followed(sql`UPDATE commands SET command_state = ${report.commandState}, state_rank = ${rank},
      detail = ${report.detail}, verdict = ${verdict}, is_final = ${isFinal}, updated_ms = ${report.atMs},
      reported_ms = ${report.reportedMs}, reported_tie = ${report.tie}
    WHERE command_id = ${report.commandID} AND device_no = ${report.deviceNo}
      AND (state_rank < ${rank} OR (state_rank <= ${backFromRank}
        AND (reported_ms, reported_tie) < (${report.reportedMs}, ${report.tie})))`);
}

/** Not begun; or a firmware job, which executes for days and which the unit withdraws as long as it can. */
const isRevocable = sql`(state_rank < ${ranks.executing} OR feature = 'firmware')`;

/** Condition: the command can be withdrawn and no withdrawal was requested yet. */
export function isWithdrawable(commandID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM commands WHERE command_id = ${commandID} AND is_final = 0
    AND ${isRevocable} AND cancel_by IS NULL)`;
}

/** A request to withdraw a command. */
export interface Cancel {
  readonly commandID: string;
  readonly by: string;
  readonly atMs: number;
  /** Condition of the whole change. */
  readonly onlyIf: Statement;
}

/** Withdraws a command that was never sent; changes 0 rows when it was. */
export function cancelUnsent(cancel: Cancel): Statement {
  return followed(sql`UPDATE commands SET command_state = 'cancelled', state_rank = ${presumedRank}, is_final = 1,
      cancel_by = ${cancel.by}, updated_ms = ${cancel.atMs}
    WHERE command_id = ${cancel.commandID} AND is_final = 0 AND state_rank < ${ranks.sent} AND ${cancel.onlyIf}`);
}

/** Records the request to withdraw a command that was sent and does not execute yet, or a firmware job. */
export function requestCancel(cancel: Cancel): Statement {
  return followed(sql`UPDATE commands SET cancel_by = COALESCE(cancel_by, ${cancel.by}), updated_ms = ${cancel.atMs}
    WHERE command_id = ${cancel.commandID} AND is_final = 0 AND ${isRevocable} AND ${cancel.onlyIf}`);
}

/** Wait for the device's report after a command's expiry, in ms. */
const reportGraceMs = 60_000;

/**
 * Expires commands: at once when the device never received them, after a minute when it has them. A command that executes
 * or whose outcome is unknown stays visible until the device reports. Returns `command_id` of each.
 */
export function expireCommands(nowMs: number): Statement {
  return followed(sql`UPDATE commands SET command_state = 'expired', state_rank = ${presumedRank}, is_final = 1,
      updated_ms = ${nowMs}
    WHERE is_final = 0 AND ((state_rank < ${receivedRank} AND expires_ms <= ${nowMs})
      OR (state_rank < ${ranks.executing} AND expires_ms <= ${nowMs - reportGraceMs}))
    RETURNING command_id, device_no, feature, state`);
}
