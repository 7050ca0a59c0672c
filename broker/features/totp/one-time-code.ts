// Time-based one-time codes (RFC 6238 over RFC 4226): HMAC-SHA-1, 6 digits, steps of 30 s, as every authenticator app computes them.
import { createHmac } from 'node:crypto';

export const codeRules = {
  digits: 6,
  stepS: 30,
  /** Steps before and after the present one whose code counts: clocks differ, and typing takes time (RFC 6238 section 5.2). */
  skewSteps: 1,
  /** Length of a secret, in bytes: that of the hash (RFC 4226 section 4, R6). */
  secretBytes: 20,
} as const;

/** RFC 4648 section 6, which authenticator apps read. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** @param bytes a multiple of 5 of them, so that nothing is padded. */
export function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.replace(/.{5}/g, (five) => alphabet.charAt(Number.parseInt(five, 2)));
}

/** The code of a step: dynamic truncation of RFC 4226 section 5.3. */
export function codeOfStep(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 0xf) & 0x7fff_ffff;
  return String(number % 10 ** codeRules.digits).padStart(codeRules.digits, '0');
}

/**
 * The step whose code this is; null: none that counts now. @param nowS epoch seconds. @param lastStep newest step that was accepted: it and those
 * before it do not count again; -1: none was.
 */
export function stepOfCode(
  code: string,
  {
    secret,
    nowS,
    lastStep,
  }: { readonly secret: Uint8Array; readonly nowS: number; readonly lastStep: number },
): number | null {
  const present = Math.floor(nowS / codeRules.stepS);
  const { skewSteps } = codeRules;
  for (let step = Math.max(present - skewSteps, lastStep + 1); step <= present + skewSteps; step++)
    if (codeOfStep(secret, step) === code) return step;
  return null;
}

/** What an authenticator app reads from a QR code (Key Uri Format). Absent parameters are those of `codeRules`. */
export function otpauthURL(
  secret: string,
  user: { readonly accountID: string; readonly userID: string },
): string {
  const label = `Fleetward:${encodeURIComponent(`${user.userID} (${user.accountID})`)}`;
  return `otpauth://totp/${label}?secret=${secret}&issuer=Fleetward`;
}

/** 80 random bits each: a recovery code cannot be guessed. */
export const recoveryBytes = 10;

/** In groups of four, as people copy it. */
export const groupedCode = (code: string): string => code.replace(/(.{4})(?!$)/g, '$1-');

/** As it was typed: a code of six digits, or a recovery code in its one spelling; null: neither. */
export function typedCode(
  text: string,
): { readonly kind: 'code' | 'recovery'; readonly code: string } | null {
  const plain = text.replace(/[\s-]/g, '').toUpperCase();
  if (/^\d{6}$/.test(plain)) return { kind: 'code', code: plain };
  return /^[A-Z2-7]{16}$/.test(plain) ? { kind: 'recovery', code: plain } : null;
}

/** How long a wrong code makes the next one wait. Recovery codes never wait. */
export const tryRules = { free: 5, firstDelayS: 60, longestDelayS: 3600, forgetS: 86_400 } as const;

/** When the next try is taken, after so many in a row; epoch seconds. */
export function nextTryS(tries: number, nowS: number): number {
  const { free, firstDelayS, longestDelayS } = tryRules;
  return tries < free ? 0 : nowS + Math.min(longestDelayS, firstDelayS * 2 ** Math.min(tries - free, 10));
}
