// A unit that enrols, as far as the protocol goes: the real cryptography, without files or a network.
import { createCertificateRequest } from '../../../src/adapters/certificate-request.ts';
import { createEnrolmentCrypto } from '../../../src/adapters/enrolment-crypto.ts';
import { createSystemEntropy } from '../../../src/adapters/system.ts';
import {
  decodeGrant,
  decodeSealedGrant,
  type EnrolmentRequest,
  transcriptOf,
} from '../../../src/core/wire/enrolment.ts';
import { parseEnrolmentCode } from '../../../src/core/wire/enrolment-code.ts';

const entropy = createSystemEntropy();
export const crypto = createEnrolmentCrypto(entropy);

/** A unit with this code: what it asks, and what it makes of an answer. */
export async function createUnit(code: string, options: { readonly wantsCertificate?: boolean } = {}) {
  const parsed = parseEnrolmentCode(code);
  if (!parsed.ok) throw new Error(parsed.reason);
  const { seed, verifier } = await crypto.deriveCodeKey(parsed);
  const key = crypto.createExchangeKey();
  const asked = options.wantsCertificate === true ? createCertificateRequest() : null;
  const said = {
    codeID: parsed.codeID,
    deviceKey: key.publicKey,
    nonce: Buffer.from(entropy.bytes(16)).toString('base64url'),
    ...(asked === null ? {} : { certificateRequest: Buffer.from(asked.request).toString('base64url') }),
  };
  const request: EnrolmentRequest = { ...said, proof: crypto.sign(seed, transcriptOf(said)) };
  return {
    request,
    keyPem: asked?.keyPem ?? null,
    /** What the sealed answer holds; null when it is not for this unit. */
    open(text: string) {
      const answer = decodeSealedGrant(text);
      const plain =
        answer === null ? null : crypto.open({ verifier, privateKey: key.privateKey, request }, answer);
      return plain === null ? null : decodeGrant(plain);
    },
  };
}
