// An authenticator app: reads a secret as the service shows it, and computes its codes.
import { codeOfStep } from '../../../broker/features/totp/one-time-code.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** @param secret base32. */
export function createAuthenticatorApp(secret: string) {
  const bits = Array.from(secret, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = Uint8Array.from(bits.match(/.{8}/g) ?? [], (eight) => Number.parseInt(eight, 2));
  return {
    /** @param steps of 30 s after the present one. */
    code: (utcMs: number, steps = 0): string => codeOfStep(bytes, Math.floor(utcMs / 30_000) + steps),
  };
}
