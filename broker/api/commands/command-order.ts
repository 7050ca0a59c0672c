// The one way into the command ledger, for all operations that order a command. In an account with the second-person rule a
// cut becomes a request for approval, and for a device with an owner's key so does each cut and unlock; nothing is sent before it is approved.
import { AppError } from '../../../src/core/errors.ts';
import type { FeatureName, FeatureState } from '../../../src/core/events/event.ts';
import { hexId } from '../../../src/core/ids.ts';
import { sql } from '../../../src/sql.ts';
import { type CommandRequest, deviceFor, lifeMs, type RecordAction } from '../../commands/command-request.ts';
import { overtaken } from '../../commands/commands.ts';
import { tripBreakers } from '../../commands/request-statements.ts';
import { isCut, isLimited, refusalOf } from '../../core/commands/command-caps.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import {
  type ApprovalRow,
  expireApprovals,
  findPending,
  insertApproval,
  isAsked,
  isAwaited,
} from '../../store/commands/approvals.ts';
import { findCapFacts, isEligibleNow } from '../../store/commands/command-caps.ts';
import { isOvertakenNow } from '../../store/commands/safe-orders.ts';
import { endVoidOrders, insertSignedOrder } from '../../store/commands/signed-orders.ts';
import { provePasswordAgain } from '../accounts/password-proof.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { needDevice } from '../base/visible-device.ts';
import { type CommandView, viewCommand, viewWaiting } from './command-view.ts';
import { signedLifeS, signOptionsFor, wantsFor } from './signed-order.ts';

export interface CommandOrder {
  readonly deviceID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly reason?: string;
  readonly ttlS?: number;
  /** Password of the caller, where one was sent; looked at only where the account wants it. */
  readonly password?: string;
  /** The password was proven by `needPasswordFor` for the whole request. */
  readonly isProven?: boolean;
  /** One of many orders of one request: no person signs those. */
  readonly isOfMany?: boolean;
  /** When the request was taken up, see `CommandLedger.arrived`. */
  readonly arrivedUs: number;
}

/** Life of a request to a second user, unless the command ends before. */
const approvalMs = 15 * 60_000;

/** A request of this user could never be approved. */
const tooNew = (): AppError =>
  new AppError('conflict', 'You cannot ask for a cut yet: nothing was asked and nothing was sent', {
    hint: 'It needs two users who have each had their role and password for a day and are confirmed (confirmUser). Let another operator ask.',
  });

type WaitingRequest = CommandRequest & Pick<CommandOrder, 'arrivedUs'>;

/** Many orders that persons would have to sign. */
const oneByOne = (): AppError =>
  new AppError('conflict', "This vehicle's owner wants persons to sign each order: nothing was sent", {
    hint: 'Order it by itself at /command/feature: one touch is one vehicle and one order.',
  });

/** Owner's key of a device, and the number of signatures that an order needs. */
interface Signers {
  readonly ownerPin: string;
  readonly needed: number;
}

/**
 * Records an order that waits, or gives the one that waits already for the same feature.
 * @param signers null: a cut that waits for a second user alone.
 */
async function ask(
  services: ApiServices,
  actor: Actor,
  request: WaitingRequest,
  signers: Signers | null = null,
): Promise<ApprovalRow> {
  const { db, clock, entropy, log } = services;
  const { accountID, userID } = actor.caller;
  const { deviceNo, deviceID } = await deviceFor(db, request);
  const nowMs = Math.round(clock.utcMs());
  const order = { deviceNo, feature: request.feature, arrivedUs: request.arrivedUs };
  const asker = { accountID, userID, atMs: nowMs, deviceNo };
  const commandExpiresMs = nowMs + lifeMs(request);
  const approvalID = hexId(entropy.bytes(16));
  const detail = { approvalID, feature: request.feature, state: request.state, reason: request.reason };
  const approval = {
    approvalID,
    deviceNo,
    reason: request.reason,
    requestedMs: nowMs,
    expiresMs: Math.min(nowMs + approvalMs, commandExpiresMs),
    commandExpiresMs,
    order,
  };
  const isUnasked = sql`NOT ${isAwaited(order)}`;
  await db.write([
    lockAccount(accountID),
    expireApprovals(nowMs),
    ...endVoidOrders(nowMs),
    ...(isCut(request)
      ? tripBreakers(asker, isUnasked, (action) => auditEntry(services, actor, action))
      : []),
    signers === null
      ? insertApproval(asker, approval)
      : insertSignedOrder(asker, { ...approval, ...signers, feature: request.feature }),
    auditEntry(services, actor, {
      action: 'command.askapproval',
      object: deviceID,
      detail,
      onlyIf: isAsked(approvalID),
    }),
  ]);
  if (await isOvertakenNow(db, order)) throw overtaken(deviceID, request.feature);
  const waiting = (await findPending(db, deviceNo)).find(({ feature }) => feature === request.feature);
  if (waiting !== undefined) {
    log.info('command_waits_for_approval', { accountID, deviceID, approvalID: waiting.approvalID });
    return waiting;
  }
  const facts = await findCapFacts(db, asker);
  if (facts?.breakerS === Math.floor(nowMs / 1000) && facts.breakerBy === userID) {
    log.error('command_breaker_opened', { accountID, issuer: userID });
  }
  // Without the rule the request is one that the ledger takes; it was switched off in between.
  const refusal = facts === null ? null : refusalOf({ ...facts, needsApproval: false }, request);
  const needsTwo = signers === null || (isCut(request) && facts?.needsApproval === true);
  if (refusal === null && needsTwo && !(await isEligibleNow(db, asker))) throw tooNew();
  throw (
    refusal ??
    new AppError('throttled', 'The rules of the account changed meanwhile; nothing was sent', {
      retryAfterS: 1,
    })
  );
}

/**
 * Proves the caller's password once for several orders, where the account wants it; nothing is looked up for the safe state.
 * @throws AppError `password_needed`, `password_wrong`, `throttled`.
 */
export async function needPasswordFor(
  services: ApiServices,
  actor: Actor,
  order: Pick<CommandOrder, 'feature' | 'state' | 'password'>,
): Promise<void> {
  if (!isLimited(order)) return;
  const { accountID, userID } = actor.caller;
  const facts = await findCapFacts(services.db, { accountID, userID, atMs: services.clock.utcMs() });
  if (facts?.needsPassword === true) await provePasswordAgain(services, actor, order.password);
}

/**
 * Enters an order into the ledger; a restrictive one only with the password where the account wants it, a safe one at once.
 * @throws AppError `not_found` for a device outside of the caller's scope, `password_needed`, `password_wrong`, `unsupported`,
 * `conflict` and `throttled` for the limits of the account.
 */
export async function orderCommand(
  services: ApiServices,
  actor: Actor,
  { password, isProven = false, isOfMany = false, ...order }: CommandOrder,
): Promise<CommandView> {
  const { caller } = actor;
  const { accountID, userID: issuer } = caller;
  const device = await needDevice(services, caller, order.deviceID);
  const record: RecordAction = (audited) => auditEntry(services, actor, audited);
  const request = { ...order, reason: order.reason ?? '', accountID, issuer, record };
  const asker = { accountID, userID: issuer, atMs: services.clock.utcMs() };
  // Nothing is looked up for the safe state: it never waits.
  const facts = isLimited(order) ? await findCapFacts(services.db, asker) : null;
  if (facts?.needsPassword === true && !isProven) await provePasswordAgain(services, actor, password);
  const { ownerPin } = device;
  if (isLimited(order) && ownerPin !== null) {
    if (isOfMany) throw oneByOne();
    const { feature, ttlS = signedLifeS[feature] } = order;
    await deviceFor(services.db, request);
    const { needed, mostS } = await wantsFor(services, device, feature);
    const row = await ask(services, actor, { ...request, ttlS: Math.min(ttlS, mostS) }, { ownerPin, needed });
    return viewWaiting(row, await signOptionsFor(services, caller, row));
  }
  if (isCut(order) && facts?.needsApproval === true) {
    return viewWaiting(await ask(services, actor, request), null);
  }
  try {
    return viewCommand(await services.ledger.request(request));
  } catch (thrown) {
    // Refused by a rule that was switched on after it was read: the request waits, as it would have a moment later.
    const now = isCut(order) ? await findCapFacts(services.db, asker) : null;
    if (now?.needsApproval === true) return viewWaiting(await ask(services, actor, request), null);
    throw thrown;
  }
}
