// The secret of a device: 256 random bits, shown once, kept only as SHA-256 (a random secret of that size needs no slow hash). A
// new one replaces the old one at once, also on live connections.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Entropy } from '../../../src/ports.ts';

const secretBytes = 32;

/** SHA-256 in hexadecimal, as the database keeps it. */
export function hashSecret(secret: Uint8Array | string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares in constant time, also without a stored hash. */
export function isSecret(presented: Uint8Array, storedHash: string | null): boolean {
  const given = Buffer.from(hashSecret(presented), 'hex');
  const stored = Buffer.from(storedHash ?? '', 'hex');
  const isKnown = stored.length === given.length;
  return timingSafeEqual(given, isKnown ? stored : Buffer.alloc(given.length)) && isKnown;
}

/** A new secret, base64url; it is shown once, and `hashSecret` of it kept. */
export function makeSecret(entropy: Entropy): string {
  return Buffer.from(entropy.bytes(secretBytes)).toString('base64url');
}
