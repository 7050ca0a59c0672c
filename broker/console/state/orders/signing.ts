// An order that persons of the owner's list sign: what differs between the order and what the screen shows. Pure.
import { orderChallenge, type PersonalOrder } from '../../../../src/core/persons/persons.ts';
import { encodeBase64url } from '../../../../src/core/persons/webauthn.ts';
import type { Approval } from '../../api/operations.ts';

/** Agreement of persons to one order, as the service has it. */
export type Signing = NonNullable<Approval['signing']>;

/** For the browser of this user. */
export type SignOptions = NonNullable<Approval['signOptions']>;

/** What the person saw before the passkey was asked for. */
export interface SeenOrder extends Pick<PersonalOrder, 'accountID' | 'deviceID' | 'feature' | 'reason'> {
  /** The order may end no later, epoch ms. */
  readonly latestMs: number;
}

/** Member of an order that is not as it was seen, or the challenge that is not the order's. */
export type Difference =
  | 'accountID'
  | 'deviceID'
  | 'feature'
  | 'state'
  | 'reason'
  | 'expiresMs'
  | 'challenge';

const plain = ['accountID', 'deviceID', 'feature', 'state', 'reason'] as const;

/** The first member of the order that is not as it was seen; null: all are. */
export function differenceOf(order: Signing['order'], seen: SeenOrder): Difference | null {
  const wanted = { ...seen, state: '1' };
  return (
    plain.find((name) => order[name] !== wanted[name]) ??
    (order.expiresMs > seen.latestMs ? 'expiresMs' : null)
  );
}

/** The challenge of the order in base64url, of the bytes that a vehicle hashes too. */
export async function challengeOf(order: Signing['order']): Promise<string> {
  const bytes = orderChallenge(order, { sha256: (text) => text });
  return encodeBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))));
}

/** A user other than the requester must agree too. @param needsApproval of the account; undefined: not known. */
export const waitsForSecond = (
  { feature, secondUser }: Pick<Approval, 'feature' | 'secondUser'>,
  needsApproval: boolean | undefined,
): boolean => needsApproval === true && feature === 'enginecutoff' && secondUser === '';

/** Persons of the list who are still missing. */
export const missingOf = ({ needed, given }: Pick<Signing, 'needed' | 'given'>): number =>
  Math.max(0, needed - given.length);
