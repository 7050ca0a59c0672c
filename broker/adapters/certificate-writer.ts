// Writes signed certificates (X.509 v3, RFC 5280), over node:crypto and our own DER: nothing is taken over from an input, every
// member is given. Which extensions a certificate of which kind has is the caller's to decide.
import { createHash, createPublicKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
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
import { addressBytes } from '../core/public-address.ts';

const { sequence, integer, octetString } = derTags;

export const ecdsaWithSha256 = encodeDer(sequence, encodeOid('1.2.840.10045.4.3.2'));

/** How keys of each kind sign: hash, and AlgorithmIdentifier (RFC 5758, RFC 4055, RFC 8410). */
const signing: Readonly<Record<string, { readonly hash: string | null; readonly algorithm: Uint8Array }>> = {
  ec: { hash: 'sha256', algorithm: ecdsaWithSha256 },
  rsa: {
    hash: 'sha256',
    algorithm: encodeDer(sequence, encodeOid('1.2.840.113549.1.1.11'), encodeDer(0x05)),
  },
  ed25519: { hash: null, algorithm: encodeDer(sequence, encodeOid('1.3.101.112')) },
};

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

/** Who signs. */
export interface Issuer {
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
export function issuerOf(certPem: string, privateKey: KeyObject): Issuer {
  const certificate = new X509Certificate(certPem);
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

/** An authority before it has a certificate: the issuer of its own. */
export function selfIssuer(name: string, privateKey: KeyObject): Issuer {
  const keyIdentifier = identifierOf(spkiOf(createPublicKey(privateKey)));
  return { privateKey, name: encodeCommonName(name), keyIdentifier, endMs: Number.POSITIVE_INFINITY };
}

/** What a certificate is for. */
export type CertificatePurpose =
  | { readonly kind: 'client' }
  /** DNS names and IP addresses, at least one. */
  | { readonly kind: 'server'; readonly names: readonly string[] }
  /** Signs end entities only. */
  | { readonly kind: 'authority' };

export interface CertificateContent {
  readonly serial: Uint8Array;
  readonly commonName: string;
  readonly key: KeyObject;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly purpose: CertificatePurpose;
}

const spkiOf = (key: KeyObject): Uint8Array => new Uint8Array(key.export({ type: 'spki', format: 'der' }));

/** SHA-1 of the key itself (section 4.2.1.2, method 1). */
function identifierOf(spki: Uint8Array): Uint8Array {
  const point = decodeBits(decodeDerMembers(spki, sequence)?.[1] ?? { tag: 0, content: spki, whole: spki });
  return new Uint8Array(
    createHash('sha1')
      .update(point ?? spki)
      .digest(),
  );
}

/** GeneralName (section 4.2.1.6): an address is its bytes, anything else a DNS name. */
function encodeGeneralName(name: string): Uint8Array {
  const address = isIP(name) === 0 ? null : addressBytes(name);
  return address === null
    ? encodeDer(0x82, new TextEncoder().encode(name))
    : encodeDer(0x87, Uint8Array.from(address));
}

const digitalSignature = encodeDer(derTags.bitString, Uint8Array.of(7, 0x80));
/** keyCertSign and cRLSign: bits 5 and 6. */
const certificateSignature = encodeDer(derTags.bitString, Uint8Array.of(1, 0x06));
const clientAuth = encodeOid('1.3.6.1.5.5.7.3.2');
const serverAuth = encodeOid('1.3.6.1.5.5.7.3.1');

/** basicConstraints, keyUsage, extKeyUsage, subjectAltName. */
function encodePurpose(purpose: CertificatePurpose): readonly Uint8Array[] {
  switch (purpose.kind) {
    case 'authority': {
      // CA:TRUE, pathLenConstraint 0.
      const isCa = encodeDer(derTags.boolean, Uint8Array.of(0xff));
      const none = encodeDer(integer, Uint8Array.of(0));
      return [
        encodeExtension(19, encodeDer(sequence, isCa, none), true),
        encodeExtension(15, certificateSignature, true),
      ];
    }
    case 'server':
    case 'client': {
      const isServer = purpose.kind === 'server';
      const names = isServer ? purpose.names.map(encodeGeneralName) : [];
      return [
        encodeExtension(19, encodeDer(sequence), true),
        encodeExtension(15, digitalSignature, true),
        encodeExtension(37, encodeDer(sequence, isServer ? serverAuth : clientAuth), false),
        ...(isServer ? [encodeExtension(17, encodeDer(sequence, ...names), false)] : []),
      ];
    }
  }
}

/** The PEM of a signed certificate (version 3). */
export function signCertificate(
  { privateKey, name, keyIdentifier }: Issuer,
  content: CertificateContent,
): string {
  const { hash, algorithm } = signing[privateKey.asymmetricKeyType ?? ''] ?? { hash: null, algorithm: name };
  const spki = spkiOf(content.key);
  const extensions = [
    ...encodePurpose(content.purpose),
    encodeExtension(14, encodeDer(octetString, identifierOf(spki)), false),
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

/** A serial number of 16 random bytes; the first byte neither negative nor zero (section 4.1.2.2). */
export function certificateSerial(random: Uint8Array): Uint8Array {
  return Uint8Array.from(random, (byte, at) => (at === 0 ? (byte & 0x7f) | 0x40 : byte));
}
