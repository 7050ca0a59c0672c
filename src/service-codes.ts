// One-time codes as of RFC 4226 (HOTP) with HMAC-SHA-256 and 8 digits, and their key: derived (RFC 5869) from the
// hash of the device secret, which vehicle and broker both have. So neither wire nor store carries anything new,
// and an offline vehicle can be restored. A new device secret is a new key. It must never be logged.
import { createHash, createHmac, hkdfSync } from 'node:crypto';

const digits = 8;

/** The code of one counter: RFC 4226 section 5.3, dynamic truncation by the last nibble. */
export function serviceCode(key: Uint8Array, counter: number): string {
  const text = Buffer.alloc(8);
  text.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac('sha256', key).update(text).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

interface Device {
  readonly accountID: string;
  readonly deviceID: string;
}

/** The codes of the device whose secret has this SHA-256, in hexadecimal. */
export function createServiceCodes(
  secretHash: string,
  { accountID, deviceID }: Device,
): { readonly keyID: string; codeAt(counter: number): string } {
  const info = `fleetward service code 1|${accountID}|${deviceID}`;
  const key = new Uint8Array(hkdfSync('sha256', secretHash, '', info, 32));
  // Identifies the key without revealing it.
  const keyID = createHmac('sha256', key).update('key id').digest('hex').slice(0, 16);
  return { keyID, codeAt: (counter) => serviceCode(key, counter) };
}

/** The codes of the device that holds `secret`. */
export function serviceCodesOfSecret(secret: string, device: Device): ReturnType<typeof createServiceCodes> {
  return createServiceCodes(createHash('sha256').update(secret).digest('hex'), device);
}
