// Requests of the broker to a unit, on the topic of the commands with a separate signed type. A request is no command: it moves no relay and changes
// no setting, and the unit answers it with events. Pure; the decoder never throws.
import type { FeatureName } from '../events/event.ts';
import { isCount, isIdText, parseObject } from './wire-checks.ts';

/**
 * `position`: locate now (status code 61504). `diagnostic`: the unit's health. `log`: the newest lines of its log. `interlock`: whether an engine cut
 * would be carried out now, and the reason if not; `interlock_cargo`: the same for an unlock of the cargo. Nothing is ordered.
 */
export const requestKinds = ['diagnostic', 'log', 'position', 'interlock', 'interlock_cargo'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** One kind per feature, so that a unit that only knows the cut does not answer for the cargo. */
const rehearsed = { interlock: 'enginecutoff', interlock_cargo: 'cargoaccess' } as const;
export type RehearsalKind = keyof typeof rehearsed;

/** True for a kind that asks for a verdict of the interlock. */
export const isRehearsal = (kind: unknown): kind is RehearsalKind =>
  typeof kind === 'string' && Object.hasOwn(rehearsed, kind);

/** The feature whose change away from the safe state is rehearsed. */
export const rehearsedFeature = (kind: RehearsalKind): FeatureName => rehearsed[kind];

/** The signed body of a request. Times are UTC ms of the broker's clock. */
export interface RequestBody {
  readonly accountID: string;
  readonly deviceID: string;
  readonly requestID: string;
  /** The only boot in which this envelope may be answered. */
  readonly boot: string;
  readonly kind: RequestKind;
  readonly issuedMs: number;
  /** Time after which it is not answered. */
  readonly expiresMs: number;
}

export const requestLimits = {
  /** Maximum size of one part of a log excerpt as JSON, bytes, and maximum number of parts: 63 KiB. */
  chunkBytes: 1536,
  parts: 42,
} as const;

/** Null: the (verified) payload is not a request. */
export function decodeRequest(payload: Uint8Array): RequestBody | null {
  const value = parseObject(payload);
  if (value === null) return null;
  const { accountID, deviceID, requestID, boot, issuedMs, expiresMs } = value;
  const kind = requestKinds.find((name) => name === value['kind']);
  if (!isIdText(accountID) || !isIdText(deviceID) || !isIdText(requestID) || !isIdText(boot)) return null;
  if (!isCount(issuedMs) || !isCount(expiresMs) || expiresMs < issuedMs || kind === undefined) return null;
  return { accountID, deviceID, requestID, boot, kind, issuedMs, expiresMs };
}
