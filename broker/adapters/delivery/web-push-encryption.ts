// Encryption of a Web Push message (RFC 8291, content encoding aes128gcm of RFC 8188) over node:crypto. One record, a new
// key and salt for each message; the push service carries it and cannot read it.
import { createCipheriv, createECDH, createHmac, type ECDH, randomBytes } from 'node:crypto';

export interface SubscriptionKeys {
  /** Base64url of the browser's public key: an uncompressed point of P-256. */
  readonly p256dh: string;
  /** Base64url of 16 secret bytes. */
  readonly auth: string;
}

/** What must be new for every message. */
export interface MessageKeys {
  readonly ecdh: ECDH;
  readonly salt: Uint8Array;
}

const recordSize = 4096;
/** Header 86, delimiter 1, tag 16. */
const plaintextMost = recordSize - 103;

const hmac = (key: Uint8Array, data: Uint8Array): Buffer => createHmac('sha256', key).update(data).digest();

export function createMessageKeys(): MessageKeys {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  return { ecdh, salt: randomBytes(16) };
}

/**
 * The body of a push message.
 * @throws Error when the subscription's keys are no keys, or the message does not fit one record.
 */
export function encryptMessage(
  plaintext: Uint8Array,
  { p256dh, auth }: SubscriptionKeys,
  { ecdh, salt }: MessageKeys = createMessageKeys(),
): Buffer {
  if (plaintext.length > plaintextMost) throw new Error(`the message is longer than ${plaintextMost} bytes`);
  const theirKey = Buffer.from(p256dh, 'base64url');
  const authSecret = Buffer.from(auth, 'base64url');
  const ourKey = ecdh.getPublicKey();
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), theirKey, ourKey, Buffer.of(1)]);
  const inputKey = hmac(hmac(authSecret, ecdh.computeSecret(theirKey)), keyInfo);
  const randomKey = hmac(salt, inputKey);
  const contentKey = hmac(randomKey, Buffer.from('Content-Encoding: aes128gcm\0\x01')).subarray(0, 16);
  const nonce = hmac(randomKey, Buffer.from('Content-Encoding: nonce\0\x01')).subarray(0, 12);
  const cipher = createCipheriv('aes-128-gcm', contentKey, nonce);
  // 2 marks the last record.
  const sealed = [cipher.update(plaintext), cipher.update(Buffer.of(2)), cipher.final(), cipher.getAuthTag()];
  const header = Buffer.alloc(21);
  header.set(salt, 0);
  header.writeUInt32BE(recordSize, 16);
  header.writeUInt8(ourKey.length, 20);
  return Buffer.concat([header, ourKey, ...sealed]);
}
