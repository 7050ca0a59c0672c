// The one way from a caller's wish to the command ledger, whichever operation it came by. A cut in an account that wants a
// second user becomes a request to him instead; nothing is signed for it before he has said yes.
import { AppError } from '../../../src/core/errors.ts';
import type { FeatureName, FeatureState } from '../../../src/core/event.ts';
import { hexId } from '../../../src/core/ids.ts';
import { sql } from '../../../src/sql.ts';
import { type CommandRequest, deviceFor, lifeMs, type RecordDeed } from '../../commands/command-request.ts';
import { isCut, refusalOf } from '../../core/command-caps.ts';
import { lockAccount } from '../../store/accounts.ts';
import {
  type ApprovalRow,
  expireApprovals,
  findPending,
  insertApproval,
  isAsked,
  isAwaited,
} from '../../store/approvals.ts';
import { findCapFacts, isSettledNow, isTripping, tripBreaker } from '../../store/command-caps.ts';
import { needDevice } from '../devices/devices.ts';
import type { ApiServices } from '../operation.ts';
import { type Doer, trail } from '../trail.ts';
import { type CommandView, viewCommand, viewWaiting } from './command-view.ts';

export interface Wish {
  readonly deviceID: string;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly reason?: string;
  readonly ttlS?: number;
}

/** How long a request to a second user waits, unless the command would end before. */
const approvalMs = 15 * 60_000;

/** A request of this user could never be approved. */
const tooNew = (): AppError =>
  new AppError('conflict', 'you cannot ask for a cut yet: nothing was asked and nothing was sent', {
    hint: 'It needs two users who have each had their role and password for a day. Let another operator ask.',
  });

/** Records a cut that waits for a second user, or gives the one that waits already. */
async function ask(services: ApiServices, doer: Doer, request: CommandRequest): Promise<ApprovalRow> {
  const { db, clock, entropy, log } = services;
  const { accountID, userID } = doer.caller;
  const { deviceNo, deviceID } = await deviceFor(db, request);
  const nowMs = Math.round(clock.utcMs());
  const asker = { accountID, userID, atMs: nowMs };
  const commandExpiresMs = nowMs + lifeMs(request);
  const approvalID = hexId(entropy.bytes(16));
  const detail = { approvalID, feature: request.feature, state: request.state, reason: request.reason };
  const isTripped = sql`${isTripping(asker)} AND NOT ${isAwaited(deviceNo)}`;
  await db.write([
    lockAccount(accountID),
    expireApprovals(nowMs),
    trail(services, doer, { action: 'command.tripbreaker', object: accountID, onlyIf: isTripped }),
    tripBreaker(asker, isTripped),
    insertApproval(asker, {
      approvalID,
      deviceNo,
      reason: request.reason,
      requestedMs: nowMs,
      expiresMs: Math.min(nowMs + approvalMs, commandExpiresMs),
      commandExpiresMs,
    }),
    trail(services, doer, {
      action: 'command.askapproval',
      object: deviceID,
      detail,
      onlyIf: isAsked(approvalID),
    }),
  ]);
  const waiting = await findPending(db, deviceNo);
  if (waiting !== null) {
    log.info('command waits for approval', { accountID, deviceID, approvalID: waiting.approvalID });
    return waiting;
  }
  const facts = await findCapFacts(db, asker);
  if (facts?.breakerS === Math.floor(nowMs / 1000) && facts.breakerBy === userID) {
    log.error('breaker opened: too many engine cuts', { accountID, issuer: userID });
  }
  // Without the rule the request is one that the ledger takes; it was switched off in between.
  const refusal = facts === null ? null : refusalOf({ ...facts, needsApproval: false }, request);
  if (refusal === null && !(await isSettledNow(db, asker))) throw tooNew();
  throw (
    refusal ??
    new AppError('throttled', 'the rules of the account changed meanwhile; nothing was sent', {
      retryAfterS: 1,
    })
  );
}

/**
 * Carries a wish to the ledger. @throws AppError `not_found` for a device outside of the caller's scope, `unsupported`,
 * `conflict` and `throttled` for the limits of the account.
 */
export async function orderCommand(services: ApiServices, doer: Doer, wish: Wish): Promise<CommandView> {
  const { caller } = doer;
  const { accountID, userID: issuer } = caller;
  await needDevice(services, caller, wish.deviceID);
  const record: RecordDeed = (deed) => trail(services, doer, deed);
  const request = { ...wish, reason: wish.reason ?? '', accountID, issuer, record };
  const asker = { accountID, userID: issuer, atMs: services.clock.utcMs() };
  if (isCut(wish) && (await findCapFacts(services.db, asker))?.needsApproval === true) {
    return viewWaiting(await ask(services, doer, request));
  }
  return viewCommand(await services.ledger.request(request));
}
