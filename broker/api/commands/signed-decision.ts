// Agreement to an order of a device with an owner's key: the signature of a person, or the second user of the account. With the last one that is
// needed the order is sent exactly as it was signed. Conditions of the statements decide, so two agreements at once give one command.
import { AppError } from '../../../src/core/errors.ts';
import type { PersonsList } from '../../../src/core/persons/owner-document.ts';
import { createVerifyPersons, type PersonalOrder } from '../../../src/core/persons/persons.ts';
import type { Assertion } from '../../../src/core/wire/assertion.ts';
import type { Statement } from '../../../src/ports.ts';
import { isCut, refusalOf } from '../../core/commands/command-caps.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import {
  type ApprovalRow,
  type Decider,
  isApprovedAs,
  personalOrderOf,
} from '../../store/commands/approvals.ts';
import { findCapFacts, isEligibleNow } from '../../store/commands/command-caps.ts';
import { type CommandRow, type NewCommand, supersedeAndInsert } from '../../store/commands/commands.ts';
import { findOwnerDocument } from '../../store/commands/owner-documents.ts';
import {
  type Agreement,
  enactSigned,
  endVoidOrders,
  isSignedBy,
  mayEnact,
  recordAgreement,
} from '../../store/commands/signed-orders.ts';
import type { Signature } from '../../store/schema/commands.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { deciderOf, needApproval, needOpen, refuseApproval } from './open-approval.ts';

/** Retries when another person signs at the same moment. */
const triesMost = 5;

/** Why a person's signature does not count, by name; the request goes on waiting. */
const notSigned = (reason: string, person: string | undefined): AppError =>
  new AppError('invalid_content', `This is no signature of the order (${reason}); it still waits`, {
    details: [{ pointer: '/assertion', message: reason }],
    hint:
      person === undefined
        ? "Sign with a passkey of a person of the owner's list."
        : `Sign the challenge of signOptions, as ${person}, in the console of the owner's list.`,
  });

interface Verified {
  readonly signatures: readonly Signature[];
  readonly isEnough: boolean;
}

/**
 * Checks what a person signed, beside what others did.
 * @throws AppError `invalid_content`.
 */
function verifyWith(
  { persons, clock }: ApiServices,
  { list, order }: { readonly list: PersonsList; readonly order: PersonalOrder },
  { before, userID, assertion }: Given,
): Verified {
  const verify = (all: readonly Assertion[]) => createVerifyPersons(persons)(list, order, all, clock.utcMs());
  if (assertion !== null) {
    const alone = verify([assertion]);
    if (!alone.ok && alone.refusal.reason !== 'too_few')
      throw notSigned(alone.refusal.reason, alone.refusal.person);
  }
  const person = list.persons.find(({ passkeys }) =>
    passkeys.some(({ credential }) => credential === assertion?.credential),
  );
  // No more than are needed: the vehicle takes four at most.
  const isWanted = !verify(before.map((one) => one.assertion)).ok;
  const isNew = isWanted && person !== undefined && !before.some(({ personID }) => personID === person.id);
  const added =
    assertion === null || !isNew
      ? []
      : [{ personID: person.id, name: person.name, userID, atMs: Math.round(clock.utcMs()), assertion }];
  const signatures = [...before, ...added];
  const { ok: isEnough } = verify(signatures.map((one) => one.assertion));
  return { signatures, isEnough };
}

interface Given {
  readonly before: readonly Signature[];
  readonly userID: string;
  readonly assertion: Assertion | null;
}

interface Agreed {
  readonly approval: ApprovalRow;
  /** Null: it waits for more. */
  readonly command: CommandRow | null;
}

interface Step {
  readonly row: ApprovalRow;
  readonly order: PersonalOrder;
  readonly decider: Decider;
  readonly agreement: Agreement;
  readonly isEnough: boolean;
}

/** Records the agreement, and with enough of them the command. */
async function record(services: ApiServices, actor: Actor, step: Step): Promise<CommandRow | null> {
  const { row, order, decider, agreement, isEnough } = step;
  const { approvalID, accountID, deviceID, deviceNo, requestedBy: issuer, reason } = row;
  const { before, after, isSecond } = agreement;
  const decision = { approvalID, decider };
  const added = after.slice(before.length).map(({ personID, name }) => ({ personID, name }));
  const persons = after.map(({ personID, name }) => ({ personID, name }));
  const audit = (action: string, detail: object, onlyIf: Statement) =>
    auditEntry(services, actor, { action, object: deviceID, detail: { approvalID, ...detail }, onlyIf });
  const isChanged = added.length > 0 || isSecond;
  const isNow = isSignedBy(decision, before);
  const agreeing = [
    lockAccount(accountID),
    ...added.map((person) => audit('command.sign', person, isNow)),
    ...(isSecond ? [audit('command.second', { requestedBy: issuer }, isNow)] : []),
    ...(isChanged ? [recordAgreement(decision, agreement)] : []),
  ];
  if (!isEnough) {
    await services.db.write(agreeing);
    return null;
  }
  return services.ledger.enact({
    device: { accountID, deviceID, deviceNo },
    reserved: order,
    statements: ({ commandID, issuedMs }) => {
      const command: NewCommand = {
        feature: row.feature,
        state: '1',
        deviceNo,
        commandID,
        reason,
        issuer,
        issuedMs,
        expiresMs: row.commandExpiresMs,
        approval: { approvalID, approver: row.secondUser ?? (isSecond ? decider.userID : null) },
        signed: {
          boot: order.boot,
          counter: order.counter,
          assertions: after.map(({ assertion }) => assertion),
        },
        // An approval is no repeat of anything.
        sameSinceMs: Number.MAX_SAFE_INTEGER,
      };
      return [
        ...agreeing,
        audit('command.approve', { commandID, requestedBy: issuer, persons }, mayEnact(decision, after)),
        enactSigned(decision, after, commandID),
        ...supersedeAndInsert(command, isApprovedAs(approvalID, commandID)),
      ];
    },
  });
}

/** True when the caller counts as the second user of this order and none does yet. */
async function isSecondUser({ db }: ApiServices, row: ApprovalRow, decider: Decider): Promise<boolean> {
  if (row.requestedBy === decider.userID || row.secondUser !== null || row.feature !== 'enginecutoff')
    return false;
  const facts = await findCapFacts(db, decider);
  return facts?.needsApproval === true && (await isEligibleNow(db, decider));
}

/**
 * Adds the agreement of the caller, and the signature of a person where one is given.
 * @throws AppError `not_found`, `conflict`, `invalid_content`: nothing is recorded then.
 */
export async function agree(
  services: ApiServices,
  actor: Actor,
  { approvalID }: Pick<ApprovalRow, 'approvalID'>,
  assertion: Assertion | null,
): Promise<Agreed> {
  const { caller } = actor;
  // A vehicle that restarted, or was sent something else, is noticed before anything is signed for it.
  await services.db.write(endVoidOrders(Math.round(services.clock.utcMs())));
  for (let tries = 0; tries < triesMost; tries++) {
    const row = await needApproval(services, caller, approvalID);
    const decider = deciderOf(services, caller);
    needOpen(row, decider);
    const order = personalOrderOf(row);
    const list = (await findOwnerDocument(services.db, row))?.list ?? null;
    if (order === null || list === null) {
      throw new AppError('conflict', 'No person signs this request: it waits for a second user', {
        hint: 'Approve it with approveCommand.',
      });
    }
    const isSecond = await isSecondUser(services, row, decider);
    if (assertion === null && !isSecond) return refuseSecond(services, actor, row);
    const before = row.signatures ?? [];
    const { signatures: after, isEnough } = verifyWith(
      services,
      { list, order },
      { before, userID: caller.userID, assertion },
    );
    const command = await record(services, actor, {
      row,
      order,
      decider,
      agreement: { before, after, isSecond },
      isEnough,
    });
    const approval = await needApproval(services, caller, approvalID);
    if (command !== null) return { approval, command };
    if (approval.approvalState !== 'pending') needOpen(approval, decider);
    const isRecorded = JSON.stringify(approval.signatures) === JSON.stringify(after);
    if (isRecorded && isEnough) await needUnhindered(services, approval, decider);
    if (isRecorded) return { approval, command: null };
  }
  throw new AppError('unavailable', 'Other persons signed at the same moment; sign again', {
    retryAfterS: 1,
  });
}

/** @throws AppError `conflict` when the order has its signatures and is held up by something other than a missing second user. */
async function needUnhindered({ db }: ApiServices, row: ApprovalRow, decider: Decider): Promise<void> {
  const facts = await findCapFacts(db, decider);
  const order = { feature: row.feature, state: '1' } as const;
  const refusal = facts?.breakerS == null ? null : refusalOf({ ...facts, needsApproval: false }, order);
  if (refusal !== null) throw refusal;
  if (facts?.needsApproval === true && isCut(order)) return;
  throw new AppError(
    'conflict',
    `The order is signed and was not sent: ${JSON.stringify(row.requestedBy)} may no longer ask for it`,
    {
      hint: 'Withdraw or refuse it, and ask again.',
    },
  );
}

/** Why the caller is no second user of this order. */
async function refuseSecond(services: ApiServices, { caller }: Actor, row: ApprovalRow): Promise<never> {
  const facts = await findCapFacts(services.db, deciderOf(services, caller));
  if (row.feature === 'enginecutoff' && facts?.needsApproval === true && row.secondUser === null)
    return refuseApproval(services, caller, row.approvalID);
  throw new AppError('conflict', "This order waits for the owner's persons, not for a second user", {
    hint: 'A person of the list signs it: see signOptions of listApprovals, and signCommand.',
  });
}
