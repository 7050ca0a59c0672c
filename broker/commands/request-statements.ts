// Statements of a command request, in one batch: the limits of its account, the orders that it replaces and withdraws, the command itself, and the
// audit entries. Every statement carries its condition. None may take effect when the command is not recorded, and nothing here may prevent a
// restore.
import type { Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { isCut, isLimited } from '../core/commands/command-caps.ts';
import { lockAccount } from '../store/accounts/accounts.ts';
import { isAwaited, withdrawPending } from '../store/commands/approvals.ts';
import { type Asker, isPermitted, isTripping, tripBreaker } from '../store/commands/command-caps.ts';
import { isRecorded, isRepeat, type NewCommand, supersedeAndInsert } from '../store/commands/commands.ts';
import { type Arrived, isOvertaken, recordRepeat } from '../store/commands/safe-orders.ts';
import type { CommandRequest, RecordAction } from './command-request.ts';

/** A restrictive order that a safe one may have overtaken; null: none can have. */
export function arrivedOrder(
  { deviceNo, feature, state }: Pick<NewCommand, 'deviceNo' | 'feature' | 'state'>,
  { arrivedUs }: Pick<CommandRequest, 'arrivedUs'>,
): Arrived | null {
  return state === '0' || arrivedUs === undefined ? null : { deviceNo, feature, arrivedUs };
}

/** Statements of one request; none has an effect when the command is a repeat or not permitted. */
export function requestStatements(command: NewCommand, request: CommandRequest): readonly Statement[] {
  const { accountID, issuer, record: toRecord } = request;
  const { commandID, feature, state, reason, issuedMs } = command;
  const asker = { accountID, userID: issuer, atMs: issuedMs, deviceNo: command.deviceNo };
  const recorded = isRecorded(commandID);
  const detail = { commandID, feature, state, reason, ttlS: (command.expiresMs - issuedMs) / 1000 };
  const audit = toRecord?.({ action: 'command.request', object: request.deviceID, detail, onlyIf: recorded });
  const permitted = isPermitted(asker, command, 'command');
  const order = arrivedOrder(command, request);
  const insert = supersedeAndInsert(
    command,
    order === null ? permitted : sql`${permitted} AND NOT ${isOvertaken(order)}`,
  );
  return [
    // Serialises requests: of two at once, the second one counts the first.
    lockAccount(accountID),
    ...(isCut(command) ? tripStatements(command, request) : []),
    ...(command.state === '0' ? [recordRepeat(command)] : []),
    ...insert,
    ...(audit === undefined ? [] : [audit]),
    ...(isLimited(command) ? [] : withdrawStatements(command, request)),
  ];
}

/** An order to the safe state withdraws the requests that wait for the same feature. */
function withdrawStatements(command: NewCommand, request: CommandRequest): readonly Statement[] {
  const { issuer: userID, issuedMs: atMs } = command;
  const onlyIf = isAwaited(command);
  const because = command.feature === 'enginecutoff' ? 'the engine was restored' : 'the cargo was locked';
  const detail = { because };
  const action = { action: 'command.withdraw', object: request.deviceID, detail, onlyIf };
  const audit = request.record?.(action);
  return [...(audit === undefined ? [] : [audit]), withdrawPending(command, { userID, atMs })];
}

/** Opens a breaker when this cut exceeds its limit. */
function tripStatements(command: NewCommand, request: CommandRequest): readonly Statement[] {
  const { accountID, issuer, record } = request;
  const asker = { accountID, userID: issuer, atMs: command.issuedMs, deviceNo: command.deviceNo };
  return tripBreakers(asker, sql`NOT ${isRepeat(command)}`, record);
}

/** Opens the breaker of the account or of the user under a condition. The audit entry comes before the statement that makes its condition false. */
export function tripBreakers(
  asker: Asker,
  unless: Statement,
  toRecord: RecordAction | undefined,
): readonly Statement[] {
  return (['account', 'user'] as const).flatMap((of) => {
    const onlyIf = sql`${isTripping(asker, of)} AND ${unless}`;
    const object = of === 'account' ? asker.accountID : asker.userID;
    const audit = toRecord?.({ action: 'command.tripbreaker', object, detail: { of }, onlyIf });
    return [...(audit === undefined ? [] : [audit]), tripBreaker(asker, of, onlyIf)];
  });
}
