// The record of a running enrolment on disk: its key, its request, and the sealed answer once there is one. It holds
// no part of the code, without which the answer cannot be opened.
import {
  decodeSealedGrant,
  type EnrolmentCrypto,
  type EnrolmentRequest,
  enrolmentPatterns,
  type SealedGrant,
  transcriptOf,
} from '../../src/core/wire/enrolment.ts';
import { codeIDPattern } from '../../src/core/wire/enrolment-code.ts';
import type { Entropy } from '../../src/ports.ts';

export interface Attempt {
  readonly request: EnrolmentRequest;
  /** X25519, base64url of 32 bytes. */
  readonly privateKey: string;
  /** PEM of the certificate's key; null when no certificate is wanted. */
  readonly certificateKey: string | null;
  readonly answer: SealedGrant | null;
}

const nonceBytes = 16;
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

interface AttemptPorts {
  readonly crypto: EnrolmentCrypto;
  readonly entropy: Entropy;
  createCertificateRequest(): { readonly keyPem: string; readonly request: Uint8Array };
}

/** A new attempt with new keys. @param code `seed` is the code's signing key. */
export function createAttempt(
  { crypto, entropy, createCertificateRequest }: AttemptPorts,
  code: { readonly codeID: string; readonly seed: Uint8Array; readonly wantsCertificate: boolean },
): Attempt {
  const key = crypto.createExchangeKey();
  const certificate = code.wantsCertificate ? createCertificateRequest() : null;
  const said = {
    codeID: code.codeID,
    deviceKey: key.publicKey,
    nonce: base64url(entropy.bytes(nonceBytes)),
    ...(certificate === null ? {} : { certificateRequest: base64url(certificate.request) }),
  };
  return {
    request: { ...said, proof: crypto.sign(code.seed, transcriptOf(said)) },
    privateKey: key.privateKey,
    certificateKey: certificate?.keyPem ?? null,
    answer: null,
  };
}

export function encodeAttempt(attempt: Attempt): string {
  return `${JSON.stringify(attempt)}\n`;
}

type JsonObject = Readonly<Record<string, unknown>>;
const objectOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? { ...value } : {};
const fits = (value: unknown, pattern: string): value is string =>
  typeof value === 'string' && new RegExp(pattern).test(value);

function decodeRequest(value: unknown): EnrolmentRequest | null {
  const { codeID, deviceKey, nonce, certificateRequest, proof } = objectOf(value);
  if (!fits(codeID, codeIDPattern) || !fits(deviceKey, enrolmentPatterns.key)) return null;
  if (!fits(nonce, enrolmentPatterns.nonce) || !fits(proof, enrolmentPatterns.proof)) return null;
  if (certificateRequest === undefined) return { codeID, deviceKey, nonce, proof };
  return fits(certificateRequest, enrolmentPatterns.base64url)
    ? { codeID, deviceKey, nonce, certificateRequest, proof }
    : null;
}

/** Null when the text is no attempt: a new one is begun then. */
export function decodeAttempt(text: string): Attempt | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const { privateKey, certificateKey, answer, ...others } = objectOf(value);
  const request = decodeRequest(others['request']);
  if (request === null || !fits(privateKey, enrolmentPatterns.key)) return null;
  if (certificateKey !== null && typeof certificateKey !== 'string') return null;
  const isCertified = request.certificateRequest !== undefined;
  if (isCertified !== (certificateKey !== null)) return null;
  return {
    request,
    privateKey,
    certificateKey,
    answer: answer === null ? null : decodeSealedGrant(JSON.stringify(answer)),
  };
}
