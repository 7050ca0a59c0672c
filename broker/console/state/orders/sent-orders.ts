// Cuts and unlocks that were sent and have no answer yet. They may be carried out at any moment. So a closed dialog or a reload
// keeps them, and they are found again in the ledger. Pure.
import type { Approval, ListedCommand } from '../../api/operations.ts';
import { type Relay, relayOf } from './cut-view.ts';

export interface SentOrder {
  readonly accountID: string;
  readonly userID: string;
  readonly relay: Relay;
  /** Operation and vehicles of the request: only the same form sends it again. */
  readonly form: string;
  /** The vehicles of which nothing is known yet. */
  readonly deviceIDs: readonly string[];
  /** Idempotency key: sent again it stays one order. */
  readonly key: string;
  /** As it was sent. */
  readonly reason: string;
  readonly ttl: number;
  /** By the clock of the service, epoch seconds. */
  readonly sentS: number;
  /** Vehicles whose restore or lock was asked for since: an order that arrives later must not count. */
  readonly takenBack: readonly string[];
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** @returns those that are whole, of what a page kept before. */
export function parseSentOrders(text: string | null): readonly SentOrder[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(kept)) return [];
    return kept.filter(
      (one: Partial<SentOrder> | null): one is SentOrder =>
        [one?.accountID, one?.userID, one?.form, one?.key, one?.reason].every(
          (member) => typeof member === 'string',
        ) &&
        relayOf(one?.relay) !== undefined &&
        isTexts(one?.deviceIDs) &&
        isTexts(one?.takenBack) &&
        Number.isFinite(one?.ttl) &&
        Number.isFinite(one?.sentS),
    );
  } catch {
    return [];
  }
}

/** An answer that takes longer is a matter of the network, s. */
const usualS = 2;

export const isOverdue = ({ sentS }: SentOrder, nowS: number): boolean => nowS - sentS > usualS;

/** An order that the ledger does not have so long after is not on its way any more, s. */
const givenUpS = 600;

export const isGivenUp = ({ sentS }: SentOrder, nowS: number): boolean => nowS - sentS > givenUpS;

/** The service takes the same command of the same user within 10 s for one; its clock is known to 2 s. */
const sameWithinS = 12;

/** What an order became in the ledger. */
export interface FoundOrder {
  /** Empty for a request. */
  readonly commandID: string;
  readonly approvalID: string;
}

/** @returns null where the ledger has nothing of it. @param approvals of the account. */
export function foundIn(
  sent: SentOrder,
  deviceID: string,
  { commands, approvals }: { commands: readonly ListedCommand[]; approvals: readonly Approval[] },
): FoundOrder | null {
  const sinceS = sent.sentS - sameWithinS;
  const command = commands.find(
    ({ feature, state, issuer, reason, issued }) =>
      feature === sent.relay &&
      state === '1' &&
      issuer === sent.userID &&
      reason === sent.reason &&
      issued >= sinceS,
  );
  if (command !== undefined) return { commandID: command.commandID, approvalID: command.approvalID };
  // While one waits, a further cut of the vehicle is that one, whatever its reason.
  const request = approvals.find(
    (one) =>
      one.deviceID === deviceID &&
      one.feature === sent.relay &&
      (one.approvalState === 'pending' || (one.requestedBy === sent.userID && one.requested >= sinceS)),
  );
  return request === undefined ? null : { commandID: request.commandID, approvalID: request.approvalID };
}
