// Requests of the broker to a unit, on the topic of the commands under a signed type of its own. A request is no
// command: it moves no relay and changes no setting, and the unit answers it with events. Pure; the decoder never
// throws.
import { isCount, isIdText, parseObject } from './wire-checks.ts';

/**
 * `position`: locate now (status code 61504). `diagnostic`: the unit's health. `log`: the newest lines of its log. `interlock`:
 * whether an engine cut would be carried out now, and why not; nothing is ordered.
 */
export const requestKinds = ['diagnostic', 'log', 'position', 'interlock'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** The signed body of a request. Times are UTC ms of the broker's clock. */
export interface RequestBody {
  readonly accountID: string;
  readonly deviceID: string;
  readonly requestID: string;
  /** The only boot in which this envelope may be answered. */
  readonly boot: string;
  readonly kind: RequestKind;
  readonly issuedMs: number;
  /** It is not answered after this. */
  readonly expiresMs: number;
}

export const requestLimits = {
  /** Bytes of the text of one part of a log excerpt as JSON, and parts at most: 63 KiB. */
  chunkBytes: 1536,
  parts: 42,
} as const;

/** Null when the (verified) payload is not a request. */
export function decodeRequest(payload: Uint8Array): RequestBody | null {
  const value = parseObject(payload);
  if (value === null) return null;
  const { accountID, deviceID, requestID, boot, issuedMs, expiresMs } = value;
  const kind = requestKinds.find((name) => name === value['kind']);
  if (!isIdText(accountID) || !isIdText(deviceID) || !isIdText(requestID) || !isIdText(boot)) return null;
  if (!isCount(issuedMs) || !isCount(expiresMs) || expiresMs < issuedMs || kind === undefined) return null;
  return { accountID, deviceID, requestID, boot, kind, issuedMs, expiresMs };
}
