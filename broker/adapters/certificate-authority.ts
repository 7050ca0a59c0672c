// The authority that signs certificates of vehicles (X.509 v3, RFC 5280): one fixed shape, for clients of TLS only. It must
// never take a name, an extension or a validity from a request: a request gives a key and nothing else.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
  X509Certificate,
} from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import {
  type DerValue,
  decodeBits,
  decodeDer,
  decodeDerMembers,
  derContext,
  derTags,
  encodeBits,
  encodeCommonName,
  encodeDer,
  encodeOid,
} from '../../src/core/der.ts';
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Entropy } from '../../src/ports.ts';
import type { CertificateAuthority } from '../enrolment.ts';

const dayMs = 24 * 3600_000;
/** A vehicle's certificate is good a little before it was made: no two clocks agree. */
const earlierMs = 3600_000;

const { sequence, integer, octetString } = derTags;

const ecdsaWithSha256 = encodeDer(sequence, encodeOid('1.2.840.10045.4.3.2'));

/** How keys of each kind sign: hash, and AlgorithmIdentifier (RFC 5758, RFC 4055, RFC 8410). */
const signing: Readonly<Record<string, { readonly hash: string | null; readonly algorithm: Uint8Array }>> = {
  ec: { hash: 'sha256', algorithm: ecdsaWithSha256 },
  rsa: {
    hash: 'sha256',
    algorithm: encodeDer(sequence, encodeOid('1.2.840.113549.1.1.11'), encodeDer(0x05)),
  },
  ed25519: { hash: null, algorithm: encodeDer(sequence, encodeOid('1.3.101.112')) },
};

/** The P-256 key of a request whose own signature is right; null otherwise. */
function keyOfRequest(request: Uint8Array): KeyObject | null {
  const [info, algorithm, bits, ...rest] = decodeDerMembers(request, sequence) ?? [];
  const members = info === undefined ? null : decodeDerMembers(info.whole, sequence);
  const signature = bits === undefined ? null : decodeBits(bits);
  const spki = members?.[2];
  if (info === undefined || spki === undefined || signature === null || rest.length > 0) return null;
  if (!Buffer.from(algorithm?.whole ?? []).equals(ecdsaWithSha256)) return null;
  try {
    const key = createPublicKey({ key: Buffer.from(spki.whole), format: 'der', type: 'spki' });
    const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return isP256 && verify('sha256', info.whole, key, signature) ? key : null;
  } catch {
    return null;
  }
}

/** RFC 5280 section 4.1.2.5: two digits of the year until 2049. */
function encodeTime(atMs: number): Uint8Array {
  const digits = new Date(atMs).toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  const isShort = digits < '2050';
  const text = new TextEncoder().encode(isShort ? digits.slice(2) : digits);
  return encodeDer(isShort ? derTags.utcTime : derTags.generalizedTime, text);
}

/** @param number of `2.5.29.<number>`. */
function encodeExtension(number: number, value: Uint8Array, isCritical: boolean): Uint8Array {
  const critical = isCritical ? [encodeDer(derTags.boolean, Uint8Array.of(0xff))] : [];
  return encodeDer(sequence, encodeOid(`2.5.29.${number}`), ...critical, encodeDer(octetString, value));
}

interface Issuer {
  readonly privateKey: KeyObject;
  /** DER of its name. */
  readonly name: Uint8Array;
  /** What its own certificate calls its key; null when it does not. */
  readonly keyIdentifier: Uint8Array | null;
  readonly endMs: number;
}

/** The subject key identifier of a certificate (section 4.2.1.2). */
function keyIdentifierOf(fields: readonly DerValue[]): Uint8Array | null {
  const list = fields.find(({ tag }) => tag === derContext(3));
  const extensions = list === undefined ? null : decodeDerMembers(list.content, sequence);
  const oid = Buffer.from(encodeOid('2.5.29.14'));
  const found = extensions?.find(({ content }) =>
    oid.equals(decodeDer(content)?.[0]?.whole ?? new Uint8Array()),
  );
  const value = found === undefined ? undefined : decodeDer(found.content)?.at(-1);
  return value === undefined ? null : (decodeDer(value.content)?.[0]?.content ?? null);
}

/** @throws Error when the two are no authority that can sign. */
function issuerOf(certPem: string, keyPem: string): Issuer {
  const certificate = new X509Certificate(certPem);
  const privateKey = createPrivateKey(keyPem);
  if (!certificate.checkPrivateKey(privateKey)) throw new Error('the key is not that of the certificate');
  if (!certificate.ca)
    throw new Error('the certificate is not that of an authority (basicConstraints CA:TRUE)');
  if (signing[privateKey.asymmetricKeyType ?? ''] === undefined) {
    throw new Error('the key must be EC, RSA or Ed25519');
  }
  const [tbs] = decodeDerMembers(new Uint8Array(certificate.raw), sequence) ?? [];
  const fields = (tbs === undefined ? null : decodeDer(tbs.content)) ?? [];
  const name = fields[5];
  if (name === undefined) throw new Error('the certificate is not of version 3');
  const endMs = Date.parse(certificate.validTo);
  return { privateKey, name: name.whole, keyIdentifier: keyIdentifierOf(fields), endMs };
}

interface Content {
  readonly serial: Uint8Array;
  readonly commonName: string;
  readonly key: KeyObject;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The PEM of a signed certificate. */
function issue({ privateKey, name, keyIdentifier }: Issuer, content: Content): string {
  const { hash, algorithm } = signing[privateKey.asymmetricKeyType ?? ''] ?? { hash: null, algorithm: name };
  const spki = new Uint8Array(content.key.export({ type: 'spki', format: 'der' }));
  const point = decodeBits(decodeDerMembers(spki, sequence)?.[1] ?? { tag: 0, content: spki, whole: spki });
  const ownIdentifier = createHash('sha1')
    .update(point ?? spki)
    .digest();
  const clientAuth = encodeDer(sequence, encodeOid('1.3.6.1.5.5.7.3.2'));
  // digitalSignature only (bit 0, seven unused).
  const usage = encodeDer(derTags.bitString, Uint8Array.of(7, 0x80));
  const extensions = [
    encodeExtension(19, encodeDer(sequence), true),
    encodeExtension(15, usage, true),
    encodeExtension(37, clientAuth, false),
    encodeExtension(14, encodeDer(octetString, ownIdentifier), false),
    ...(keyIdentifier === null
      ? []
      : [encodeExtension(35, encodeDer(sequence, encodeDer(0x80, keyIdentifier)), false)]),
  ];
  const tbs = encodeDer(
    sequence,
    encodeDer(derContext(0), encodeDer(integer, Uint8Array.of(2))),
    encodeDer(integer, content.serial),
    algorithm,
    name,
    encodeDer(sequence, encodeTime(content.fromMs), encodeTime(content.untilMs)),
    encodeCommonName(content.commonName),
    spki,
    encodeDer(derContext(3), encodeDer(sequence, ...extensions)),
  );
  const signature = new Uint8Array(sign(hash, tbs, privateKey));
  const der = encodeDer(sequence, tbs, algorithm, encodeBits(signature));
  return new X509Certificate(Buffer.from(der)).toString();
}

/** 127 random bits; the first byte neither negative nor zero (section 4.1.2.2). */
function serialOf(random: Uint8Array): Uint8Array {
  return Uint8Array.from(random, (byte, at) => (at === 0 ? (byte & 0x7f) | 0x40 : byte));
}

export interface AuthorityFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** How long its certificates are good, never longer than its own. */
  readonly days: number;
}

/** @throws AppError `config` when others may read the key, or the files are no authority. */
export function loadCertificateAuthority(files: AuthorityFiles, entropy: Entropy): CertificateAuthority {
  const { certFile, keyFile, days } = files;
  let issuer: Issuer;
  try {
    if ((statSync(keyFile).mode & 0o077) !== 0) {
      throw new AppError('config', `enrolment.caKeyFile ${keyFile} can be read by others`, {
        hint: `Run: chmod 600 ${keyFile}`,
      });
    }
    issuer = issuerOf(readFileSync(certFile, 'utf8'), readFileSync(keyFile, 'utf8'));
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    throw new AppError(
      'config',
      `enrolment.caCertFile ${certFile}, enrolment.caKeyFile ${keyFile}: ${messageOf(thrown)}`,
    );
  }
  return {
    issue(request, { commonName, nowMs }) {
      const key = keyOfRequest(request);
      if (key === null || nowMs >= issuer.endMs) return null;
      const serial = serialOf(entropy.bytes(16));
      const untilMs = Math.min(nowMs + days * dayMs, issuer.endMs);
      const content = { serial, commonName, key, fromMs: nowMs - earlierMs, untilMs };
      return { pem: issue(issuer, content), serial: Buffer.from(serial).toString('hex'), untilMs };
    },
  };
}
