// Do the persons whom the owner named agree to this order? The answer is data, and needs nothing but its arguments. Pure.
import { canonicalJson } from '../canonical-json.ts';
import type { FeatureName, FeatureState } from '../events/event.ts';
import { type Assertion, assertionsMost } from '../wire/assertion.ts';
import { type Person, type PersonsList, personRoles } from './owner-document.ts';
import { type AssertionRefusal, assertionRefusal, type PersonsCrypto } from './webauthn.ts';

/** What a person agrees to: one state of one relay of one vehicle, in one boot, once, until it expires. */
export interface PersonalOrder {
  readonly accountID: string;
  readonly deviceID: string;
  readonly boot: string;
  readonly counter: number;
  readonly feature: FeatureName;
  readonly state: FeatureState;
  readonly expiresMs: number;
  readonly reason: string;
}

export type PersonsRefusalReason =
  | AssertionRefusal
  /** The vehicle has no list of its owner. */
  | 'no_list'
  /** Without a trusted time no list is known to be valid. */
  | 'time_unknown'
  | 'list_ended'
  | 'order_expired'
  | 'unknown_passkey'
  | 'role'
  | 'vehicle'
  | 'too_many'
  | 'too_few';

export interface PersonsRefusal {
  readonly reason: PersonsRefusalReason;
  /** Person of the assertion; absent where it is none's. */
  readonly person?: string;
  /** Persons who must agree, and those who did. */
  readonly needed?: number;
  readonly given?: number;
}

export type PersonsVerdict =
  | { readonly ok: true; readonly persons: readonly string[] }
  | { readonly ok: false; readonly refusal: PersonsRefusal };

/** The challenge of an order: SHA-256 over its canonical bytes, which say what they are. */
export function orderChallenge(order: PersonalOrder, { sha256 }: Pick<PersonsCrypto, 'sha256'>): Uint8Array {
  const { accountID, deviceID, boot, counter, feature, state, expiresMs, reason } = order;
  const exactly = { accountID, deviceID, boot, counter, feature, state, expiresMs, reason };
  return sha256(new TextEncoder().encode(`fleetward-order-1\n${canonicalJson(exactly)}`));
}

type Target = Pick<PersonalOrder, 'accountID' | 'deviceID' | 'feature'>;

const hasRole = ({ role }: Person, { feature }: Target): boolean =>
  personRoles[role]?.includes(feature) === true;

function isFor({ vehicles }: Person, { accountID, deviceID }: Target): boolean {
  const name = `${accountID}/${deviceID}`;
  return vehicles.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : one === name));
}

/** True for a person whose signature counts for an order of this feature and vehicle. */
export const mayOrder = (person: Person, target: Target): boolean =>
  hasRole(person, target) && isFor(person, target);

/** Signature of the check, as the relay guard and the vehicle call it. */
export type VerifyPersons = (
  list: PersonsList | null,
  order: PersonalOrder,
  assertions: readonly Assertion[],
  /** The latest time that it may be, UTC ms; null: unknown. */
  nowMs: number | null,
) => PersonsVerdict;

/** An assertion that is wrong refuses the order, whatever the others say. */
export function createVerifyPersons(crypto: PersonsCrypto): VerifyPersons {
  return (list, order, assertions, nowMs) => {
    const refuse = (
      reason: PersonsRefusalReason,
      more: Omit<PersonsRefusal, 'reason'> = {},
    ): PersonsVerdict => ({
      ok: false,
      refusal: { reason, ...more },
    });
    if (list === null) return refuse('no_list');
    if (nowMs === null) return refuse('time_unknown');
    if (nowMs >= list.validUntilMs) return refuse('list_ended');
    if (nowMs >= order.expiresMs) return refuse('order_expired');
    if (assertions.length > assertionsMost) return refuse('too_many', { given: assertions.length });
    const challenge = orderChallenge(order, crypto);
    const agreed = new Set<string>();
    for (const assertion of assertions) {
      const person = list.persons.find(({ passkeys }) =>
        passkeys.some(({ credential }) => credential === assertion.credential),
      );
      const passkey = person?.passkeys.find(({ credential }) => credential === assertion.credential);
      if (person === undefined || passkey === undefined) return refuse('unknown_passkey');
      const { id } = person;
      if (!hasRole(person, order)) return refuse('role', { person: id });
      if (!isFor(person, order)) return refuse('vehicle', { person: id });
      const { rpID, origins } = list;
      const expected = { challenge, rpID, origins, publicKey: passkey.publicKey };
      const refusal = assertionRefusal(assertion, expected, crypto);
      if (refusal !== null) return refuse(refusal, { person: id });
      agreed.add(id);
    }
    const needed = list.needed[order.feature];
    if (agreed.size < needed) return refuse('too_few', { needed, given: agreed.size });
    return { ok: true, persons: [...agreed] };
  };
}
