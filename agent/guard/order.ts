// Orders that may close a restrictive relay, and their proofs. Pure. `verifyOrder` is the only way to an order. Assertions of persons would stand in
// the proof of kind `broker`, beside its token, and be checked here.
import type { FeatureName, FeatureState } from '../../src/core/events/event.ts';
import { decodeCommand, signedTypes } from '../../src/core/wire/wire.ts';

/** Proof of an order, as it is kept beside its command. JSON. */
export type OrderProof =
  /** Envelope of the broker as it came: a JSON Web Signature by the pinned key. */
  | { readonly kind: 'broker'; readonly token: string }
  /** Crossing of the border of a geozone; the signed configuration must ask for it. `untilMs`: end of its life, UTC. */
  | ({ readonly kind: 'zone'; readonly untilMs: number } & Grant)
  /** A person at the unit typed the consent at this monotonic time, ms; only in the doctor. */
  | { readonly kind: 'attended'; readonly feature: FeatureName; readonly agreedMs: number };

interface Grant {
  readonly feature: FeatureName;
  readonly zoneID: string;
  readonly to: 'inside' | 'outside';
}

export interface Arrival {
  /** `waiting`, `carried`: the command record kept it over a restart; it is to be carried out, or it was. */
  readonly origin: 'new' | 'waiting' | 'carried';
  readonly atMs: number;
}

export interface Order {
  readonly kind: OrderProof['kind'];
  readonly id: string;
  readonly feature: FeatureName;
  readonly state: FeatureState | 'cancel';
  readonly counter: number;
  /** Monotonic end of its life, counted from its arrival in this run, ms. */
  readonly endMs: number;
  /** End of its life by UTC if it was kept over a restart, ms; else infinite. */
  readonly untilUtcMs: number;
  /** Its relay was read closed for `limits.carriedMs`. */
  readonly isCarried: boolean;
}

export interface OrderSetup {
  readonly accountID: string;
  readonly deviceID: string;
  readonly boot: string;
  /** Verifies with the pinned key of the broker; null: there is none. */
  readonly verifier: { verify(token: string, type: string): Uint8Array | null } | null;
  /** The installer lets geozones cut the engine. */
  readonly zoneCuts: boolean;
}

const lives = { zone: 86_400_000, attended: 125_000 } as const;

/** What a geozone asks for, as one text. */
export const grantOf = ({ feature, zoneID, to }: Grant): string => `${feature} ${to} ${zoneID}`;

/** The order of a proof; null: the proof does not hold. What a geozone asks for is compared at each write (`isGranted`). */
export function verifyOrder(proof: OrderProof, setup: OrderSetup, { origin, atMs }: Arrival): Order | null {
  const { kind } = proof;
  const byUtc = (ms: number): number => (origin === 'new' ? Number.POSITIVE_INFINITY : ms);
  const isCarried = origin === 'carried';
  if (kind === 'broker') {
    const payload = setup.verifier?.verify(proof.token, signedTypes.command) ?? null;
    const body = payload === null ? null : decodeCommand(payload);
    if (body === null || body.accountID !== setup.accountID || body.deviceID !== setup.deviceID) return null;
    // One that was kept over a restart is of an earlier boot.
    if (origin === 'new' && body.boot !== setup.boot) return null;
    const { commandID: id, feature, counter, issuedMs, expiresMs } = body;
    const state = body.cancel ? 'cancel' : body.state;
    const endMs = atMs + (expiresMs - issuedMs);
    return { kind, id, feature, state, counter, endMs, untilUtcMs: byUtc(expiresMs), isCarried };
  }
  const { feature } = proof;
  const id = kind === 'zone' ? grantOf(proof) : `${proof.agreedMs}`;
  const endMs = kind === 'zone' ? atMs + lives.zone : proof.agreedMs + lives.attended;
  const untilUtcMs = byUtc(kind === 'zone' ? proof.untilMs : 0);
  return { kind, id, feature, state: '1', counter: Number.POSITIVE_INFINITY, endMs, untilUtcMs, isCarried };
}

/** False for an order of a geozone for which configuration or installer do not ask. */
export const isGranted = (
  { kind, id, feature }: Order,
  grants: readonly string[],
  { zoneCuts }: OrderSetup,
): boolean => kind !== 'zone' || (grants.includes(id) && (feature !== 'enginecutoff' || zoneCuts));
