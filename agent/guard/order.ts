// Orders that may close a restrictive relay, and their proofs. Pure. `verifyOrder` is the only way to an order.
import type { FeatureName } from '../../src/core/events/event.ts';
import type { PersonsList } from '../../src/core/persons/owner-document.ts';
import type { VerifyPersons } from '../../src/core/persons/persons.ts';
import { type CommandBody, decodeCommand, signedTypes } from '../../src/core/wire/wire.ts';

type Grant = Readonly<{ feature: FeatureName; zoneID: string; to: 'inside' | 'outside' }>;

/** Proof of an order, as it is kept beside its command. JSON. */
export type OrderProof =
  /** Envelope of the broker as it came: a JSON Web Signature by the pinned key. */
  | Readonly<{ kind: 'broker'; token: string }>
  /** Crossing of the border of a geozone; the signed configuration must ask for it. `untilMs`: end of its life, UTC. */
  | (Grant & Readonly<{ kind: 'zone'; untilMs: number }>)
  /** A person at the unit typed the consent at this monotonic time, ms; only in the doctor. */
  | Readonly<{ kind: 'attended'; feature: FeatureName; agreedMs: number }>;

/** `waiting`, `carried`: the command record kept it over a restart; it is to be carried out, or it was. */
export type OrderFact = Readonly<{ proof: OrderProof; origin: 'new' | 'waiting' | 'carried'; atMs: number }>;

/** `endMs`: monotonic end of its life, counted from its arrival in this run. `permitMs`: newest permit for it; infinite: none. */
export interface Order extends Readonly<Record<'endMs' | 'untilUtcMs' | 'permitMs', number>> {
  readonly kind: OrderProof['kind'];
  readonly id: string;
  readonly feature: FeatureName;
  /** Of the broker's envelope; null: the order has another proof. */
  readonly body: CommandBody | null;
  /** Its relay was read closed for `limits.carriedMs` after a permit. */
  readonly isCarried: boolean;
}

export interface OrderSetup extends Readonly<Record<'accountID' | 'deviceID' | 'boot', string>> {
  /** Verifies with the pinned key of the broker; null: there is none. */
  readonly verifier: { verify(token: string, type: string): Uint8Array | null } | null;
  /** Verifies the assertions of persons; null: no owner's key is pinned. */
  readonly verifyPersons: VerifyPersons | null;
  /** The installer lets geozones cut the engine. */
  readonly zoneCuts: boolean;
}

const lives = { zone: 86_400_000, attended: 125_000 } as const;

export const grantOf = ({ feature, zoneID, to }: Grant): string => `${feature} ${to} ${zoneID}`;

/** The order of a proof; null: the proof does not hold. What may change until a write is asked then (`isGranted`). */
export function verifyOrder({ proof, origin, atMs }: OrderFact, setup: OrderSetup): Order | null {
  const { kind } = proof;
  const isKept = origin !== 'new';
  const more = { kind, permitMs: Number.POSITIVE_INFINITY, isCarried: origin === 'carried' };
  if (kind === 'broker') {
    const payload = setup.verifier?.verify(proof.token, signedTypes.command) ?? null;
    const body = payload === null ? null : decodeCommand(payload);
    if (body === null || body.accountID !== setup.accountID || body.deviceID !== setup.deviceID) return null;
    // One that was kept over a restart is of an earlier boot.
    if (!isKept && body.boot !== setup.boot) return null;
    const { commandID: id, feature, issuedMs, expiresMs } = body;
    const untilUtcMs = isKept ? expiresMs : Number.POSITIVE_INFINITY;
    return { ...more, id, feature, body, endMs: atMs + (expiresMs - issuedMs), untilUtcMs };
  }
  const { feature } = proof;
  if (kind === 'attended' && (isKept || proof.agreedMs > atMs)) return null;
  const id = kind === 'zone' ? grantOf(proof) : `${proof.agreedMs}`;
  const endMs = kind === 'zone' ? atMs + lives.zone : proof.agreedMs + lives.attended;
  const untilUtcMs = kind === 'zone' && isKept ? proof.untilMs : Number.POSITIVE_INFINITY;
  return { ...more, id, feature, body: null, endMs, untilUtcMs };
}

type Granting = Readonly<{ grants: readonly string[]; list: PersonsList | null }>;

/** False while that which an order rests on does not ask for it: persons of the owner's list in force; configuration and installer, for a geozone. */
export function isGranted(order: Order, state: Granting, setup: OrderSetup, utcMs: number): boolean {
  const { kind, id, feature, body } = order;
  if (setup.verifyPersons === null)
    return kind !== 'zone' || (state.grants.includes(id) && (feature !== 'enginecutoff' || setup.zoneCuts));
  // What was carried out is judged at the end of its life: it may be due again long after that.
  const atMs = body !== null && order.isCarried ? body.expiresMs - 1 : utcMs;
  return body !== null && setup.verifyPersons(state.list, body, body.assertions ?? [], atMs).ok;
}
