// Signed heads of chains: where a chain stood, with the signature of the service, so that a chain that is shorter later shows.
import type { Signer, Verifier } from '../../src/ports.ts';
import type { ChainHead } from '../core/accounts/audit-chain.ts';
import type { KeptHead } from '../store/accounts/audit-log.ts';

/** Type of a signed head; its payload is the JSON of `SignedHead`. */
const headType = 'fleetward-audit-head-1';

export interface SignedHead extends ChainHead {
  readonly accountID: string;
  readonly atMs: number;
}

/** The head of a chain as a signed text of one line. */
export function signHead(signer: Signer, head: SignedHead): string {
  return signer.sign(new TextEncoder().encode(JSON.stringify(head)), headType);
}

function parseHead(bytes: Uint8Array): SignedHead | null {
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof value !== 'object' || value === null) return null;
  const { accountID, chainNo, hash, atMs } = value as Partial<Record<keyof SignedHead, unknown>>;
  if (typeof accountID !== 'string' || typeof hash !== 'string') return null;
  if (typeof chainNo !== 'number' || typeof atMs !== 'number') return null;
  return { accountID, chainNo, hash, atMs };
}

/** What a signed text says; null when the service has not signed it, or no head. */
export function readHead(verifier: Verifier, signed: string): SignedHead | null {
  const payload = verifier.verify(signed, headType);
  return payload === null ? null : parseHead(payload);
}

/**
 * The signed head of a kept one; null when the service has not signed it for this account. It may differ from the values
 * beside it when another program changed these.
 */
export function signedHeadOf(kept: KeptHead, verifier: Verifier, accountID: string): SignedHead | null {
  const head = readHead(verifier, kept.signed);
  return head?.accountID === accountID ? head : null;
}
