// Passwords of the users that a run creates.
import type { Entropy } from '../../../src/ports.ts';

const secretBytes = 24;

/** A random password of 32 characters. */
export const createSecretText = (entropy: Entropy): string =>
  Buffer.from(entropy.bytes(secretBytes)).toString('base64url');
