// The enrolment protocol between a vehicle without credentials and the broker, safe over plain HTTP. The vehicle signs its fresh
// key with a key derived from the code. The broker seals its answer to the fresh key and the code. Pure: the cryptography is a
// port. The code's secret and private keys must never be transmitted.

import { isId } from '../ids.ts';
import type { EnrolmentCode } from './enrolment-code.ts';

/** Request of the vehicle. Binary members are base64url without padding. */
export interface EnrolmentRequest {
  readonly codeID: string;
  /** X25519 public key made for this enrolment only, 32 bytes. */
  readonly deviceKey: string;
  /** 16 random bytes. */
  readonly nonce: string;
  /** PKCS #10 in DER (RFC 2986); absent: no certificate is requested. */
  readonly certificateRequest?: string;
  /** Ed25519 signature over `transcriptOf`, with the key derived from the code, 64 bytes. */
  readonly proof: string;
}

/** Answer of the broker. */
export interface SealedGrant {
  /** X25519 public key made for this answer only, 32 bytes. */
  readonly brokerKey: string;
  /** AES-256-GCM with the tag at the end. */
  readonly sealed: string;
}

/** Content of the answer: everything that an agent needs to connect. */
export interface EnrolmentGrant {
  readonly accountID: string;
  readonly deviceID: string;
  /** The MQTT password. */
  readonly secret: string;
  /** The broker's Ed25519 key that signs commands, base64 of 32 bytes. */
  readonly publicKey: string;
  /** Addresses for vehicles to connect to, best first; may be empty. */
  readonly mqttUrls: readonly string[];
  /** PEM of the authority to trust for mqtts; null: the system's list. */
  readonly ca: string | null;
  /** PEM of the vehicle's certificate; null: none was requested. */
  readonly certificate: string | null;
  readonly serverTimeMs: number;
}

/** Maximum length of members, in characters. */
export const enrolmentLimits = {
  certificateRequest: 1400,
  pem: 64 * 1024,
  mqttUrls: 8,
  sealed: 256 * 1024,
} as const;

/** Members of the exchange, for JSON schemas. */
export const enrolmentPatterns = {
  key: '^[A-Za-z0-9_-]{43}$',
  nonce: '^[A-Za-z0-9_-]{22}$',
  proof: '^[A-Za-z0-9_-]{86}$',
  base64url: '^[A-Za-z0-9_-]+$',
  mqttUrl: '^mqtts?://[^/@\\s"\\\\\\u0000-\\u001f]+$',
} as const;

/** Path of the request below the broker's address. */
export const enrolmentPath = '/api/v1/device/enrol/authorization';

const label = 'fleetward-enrolment-1';
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The signed bytes: the whole request. No member can hold the line feed that separates them. */
export function transcriptOf(request: Omit<EnrolmentRequest, 'proof'>): Uint8Array {
  const { codeID, deviceKey, nonce, certificateRequest = '' } = request;
  return bytesOf([label, codeID, deviceKey, nonce, certificateRequest].join('\n'));
}

/** The bytes bound to the seal: the whole request and the broker's key. */
export function sealContextOf(request: EnrolmentRequest, brokerKey: string): Uint8Array {
  const said = new TextDecoder().decode(transcriptOf(request));
  return bytesOf([said, request.proof, brokerKey].join('\n'));
}

/** Keys derived from a code. The broker keeps only the verifier, which does not allow enrolment; the seed stays on the vehicle. */
export interface CodeKey {
  /** Ed25519 private key, 32 bytes. */
  readonly seed: Uint8Array;
  /** Its public key, base64url. The broker and holders of the code know it: it also binds the seal to the code. */
  readonly verifier: string;
}

/** Key pair of one exchange, base64url of 32 bytes each. */
export interface ExchangeKey {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** The cryptography of the protocol; see `src/adapters/enrolment-crypto.ts`. */
export interface EnrolmentCrypto {
  /** Slow on purpose (scrypt); does not run on the calling thread. */
  deriveCodeKey(code: EnrolmentCode): Promise<CodeKey>;
  createExchangeKey(): ExchangeKey;
  sign(seed: Uint8Array, transcript: Uint8Array): string;
  /** A null verifier takes the same time and returns false. */
  verify(verifier: string | null, request: EnrolmentRequest): boolean;
  /** Null: the vehicle's key is not a valid X25519 key. */
  seal(
    to: { readonly verifier: string; readonly request: EnrolmentRequest },
    plain: Uint8Array,
  ): SealedGrant | null;
  /** Null unless it was sealed with the code's verifier, to this key, for this very request. */
  open(
    by: { readonly verifier: string; readonly privateKey: string; readonly request: EnrolmentRequest },
    answer: SealedGrant,
  ): Uint8Array | null;
  /** SHA-256 in hexadecimal. */
  digest(bytes: Uint8Array): string;
}

export function encodeGrant(grant: EnrolmentGrant): Uint8Array {
  return bytesOf(JSON.stringify(grant));
}

type JsonObject = Readonly<Record<string, unknown>>;

function parseObject(bytes: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

const fits = (value: unknown, pattern: string): value is string =>
  typeof value === 'string' && new RegExp(pattern, 'u').test(value);
const isPem = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= enrolmentLimits.pem &&
  value.startsWith('-----BEGIN CERTIFICATE-----\n');
const isPemOrNull = (value: unknown): value is string | null => value === null || isPem(value);

function decodeUrls(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > enrolmentLimits.mqttUrls) return null;
  const urls: readonly unknown[] = value;
  return urls.every((url): url is string => fits(url, enrolmentPatterns.mqttUrl)) ? urls : null;
}

/** Null: the opened bytes are no grant. Every member that the agent writes to its files is checked. */
export function decodeGrant(bytes: Uint8Array): EnrolmentGrant | null {
  const { accountID, deviceID, secret, publicKey, ca, certificate, serverTimeMs, mqttUrls } =
    parseObject(bytes) ?? {};
  const urls = decodeUrls(mqttUrls);
  if (typeof accountID !== 'string' || typeof deviceID !== 'string' || urls === null) return null;
  if (!isId(accountID) || !isId(deviceID)) return null;
  if (!fits(secret, '^[A-Za-z0-9_-]{16,200}$') || !fits(publicKey, '^[A-Za-z0-9+/]{43}=$')) return null;
  if (!isPemOrNull(ca) || !isPemOrNull(certificate)) return null;
  if (typeof serverTimeMs !== 'number' || !Number.isSafeInteger(serverTimeMs) || serverTimeMs < 0)
    return null;
  return { accountID, deviceID, secret, publicKey, mqttUrls: urls, ca, certificate, serverTimeMs };
}

/** Null: the text is no sealed answer. */
export function decodeSealedGrant(text: string): SealedGrant | null {
  const { brokerKey, sealed } = parseObject(bytesOf(text)) ?? {};
  if (!fits(brokerKey, enrolmentPatterns.key) || !fits(sealed, enrolmentPatterns.base64url)) return null;
  return sealed.length <= enrolmentLimits.sealed ? { brokerKey, sealed } : null;
}
