// Writes signed certificates (X.509 v3, RFC 5280) and reads requests for them (PKCS #10, RFC 2986) with PKI.js; keys, signatures
// and hashes are those of node:crypto, so that a private key is never handed on. Nothing is taken over from an input, every
// member is given. Which extensions a certificate of which kind has is the caller's to decide.
import { createHash, createPublicKey, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { BitString, fromBER, Integer, Null, OctetString, Utf8String } from 'asn1js';
import {
  AlgorithmIdentifier,
  AltName,
  AttributeTypeAndValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  CertificationRequest,
  Extension,
  ExtKeyUsage,
  GeneralName,
  PublicKeyInfo,
  RelativeDistinguishedNames,
  Time,
  TimeType,
} from 'pkijs';
import { addressBytes } from '../../core/notifications/public-address.ts';

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';

interface Signing {
  readonly hash: string | null;
  readonly algorithm: () => AlgorithmIdentifier;
}

/** How keys of each kind sign: hash, and AlgorithmIdentifier (RFC 5758, RFC 4055, RFC 8410). */
const signing: Readonly<Record<string, Signing>> = {
  ec: { hash: 'sha256', algorithm: () => new AlgorithmIdentifier({ algorithmId: ecdsaWithSha256 }) },
  rsa: {
    hash: 'sha256',
    algorithm: () =>
      new AlgorithmIdentifier({ algorithmId: '1.2.840.113549.1.1.11', algorithmParams: new Null() }),
  },
  ed25519: { hash: null, algorithm: () => new AlgorithmIdentifier({ algorithmId: '1.3.101.112' }) },
};

/** How the key signs. @throws Error when it is of another kind. */
function signingOf({ asymmetricKeyType }: KeyObject): Signing {
  const known = signing[asymmetricKeyType ?? ''];
  if (known === undefined) throw new Error('the key must be EC, RSA or Ed25519');
  return known;
}

/** Last members of `2.5.29`, the identifiers of extensions (RFC 5280 section 4.2.1). */
const extensionIds = {
  subjectKeyIdentifier: 14,
  keyUsage: 15,
  subjectAltName: 17,
  basicConstraints: 19,
  authorityKeyIdentifier: 35,
  extKeyUsage: 37,
} as const;

type Encodable = { toBER(): ArrayBuffer };

function extension(name: keyof typeof extensionIds, value: Encodable, critical = false): Extension {
  return new Extension({ extnID: `2.5.29.${extensionIds[name]}`, critical, extnValue: value.toBER() });
}

/** Who signs. */
export interface Issuer {
  readonly privateKey: KeyObject;
  readonly name: RelativeDistinguishedNames;
  /** What its own certificate calls its key; null when it does not. */
  readonly keyIdentifier: Uint8Array | null;
  readonly endMs: number;
}

/** The subject key identifier of a certificate (section 4.2.1.2). */
function keyIdentifierOf({ extensions = [] }: Certificate): Uint8Array | null {
  const id = `2.5.29.${extensionIds.subjectKeyIdentifier}`;
  const found = extensions.find(({ extnID }) => extnID === id);
  if (found === undefined) return null;
  const value = fromBER(found.extnValue.valueBlock.valueHexView).result;
  return value instanceof OctetString ? value.valueBlock.valueHexView : null;
}

/** @throws Error when the two are no authority that can sign. */
export function issuerOf(certPem: string, privateKey: KeyObject): Issuer {
  const certificate = new X509Certificate(certPem);
  if (!certificate.checkPrivateKey(privateKey)) throw new Error('the key is not that of the certificate');
  if (!certificate.ca)
    throw new Error('the certificate is not that of an authority (basicConstraints CA:TRUE)');
  signingOf(privateKey);
  const parsed = Certificate.fromBER(new Uint8Array(certificate.raw));
  const endMs = Date.parse(certificate.validTo);
  return { privateKey, name: parsed.subject, keyIdentifier: keyIdentifierOf(parsed), endMs };
}

/** A distinguished name of one common name (section 4.1.2.4). */
function commonNameOf(name: string): RelativeDistinguishedNames {
  const attribute = new AttributeTypeAndValue({ type: '2.5.4.3', value: new Utf8String({ value: name }) });
  return new RelativeDistinguishedNames({ typesAndValues: [attribute] });
}

const publicKeyInfoOf = (key: KeyObject): PublicKeyInfo =>
  PublicKeyInfo.fromBER(new Uint8Array(key.export({ type: 'spki', format: 'der' })));

/** SHA-1 of the key itself (section 4.2.1.2, method 1). */
function identifierOf({ subjectPublicKey }: PublicKeyInfo): Uint8Array {
  return new Uint8Array(createHash('sha1').update(subjectPublicKey.valueBlock.valueHexView).digest());
}

/** An authority before it has a certificate: the issuer of its own. */
export function selfIssuer(name: string, privateKey: KeyObject): Issuer {
  const keyIdentifier = identifierOf(publicKeyInfoOf(createPublicKey(privateKey)));
  return { privateKey, name: commonNameOf(name), keyIdentifier, endMs: Number.POSITIVE_INFINITY };
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

/** GeneralName (section 4.2.1.6): an address is its bytes, anything else a DNS name. */
function generalNameOf(name: string): GeneralName {
  const address = isIP(name) === 0 ? null : addressBytes(name);
  return address === null
    ? new GeneralName({ type: 2, value: name })
    : new GeneralName({ type: 7, value: new OctetString({ valueHex: Uint8Array.from(address) }) });
}

const clientAuth = '1.3.6.1.5.5.7.3.2';
const serverAuth = '1.3.6.1.5.5.7.3.1';

/** A key usage of named bits (section 4.2.1.3): the byte, and how many of its low bits are not used. */
const keyUsage = (bits: number, unusedBits: number): Extension =>
  extension('keyUsage', new BitString({ valueHex: Uint8Array.of(bits), unusedBits }), true);

/** basicConstraints, keyUsage, extKeyUsage, subjectAltName. */
function extensionsFor(purpose: CertificatePurpose): readonly Extension[] {
  switch (purpose.kind) {
    case 'authority': {
      const basic = new BasicConstraints({ cA: true, pathLenConstraint: 0 });
      // keyCertSign and cRLSign: bits 5 and 6.
      return [extension('basicConstraints', basic.toSchema(), true), keyUsage(0x06, 1)];
    }
    case 'server':
    case 'client': {
      const isServer = purpose.kind === 'server';
      const usage = new ExtKeyUsage({ keyPurposes: [isServer ? serverAuth : clientAuth] });
      const names = isServer ? [new AltName({ altNames: purpose.names.map(generalNameOf) })] : [];
      return [
        extension('basicConstraints', new BasicConstraints().toSchema(), true),
        // digitalSignature: bit 0.
        keyUsage(0x80, 7),
        extension('extKeyUsage', usage.toSchema()),
        ...names.map((name) => extension('subjectAltName', name.toSchema())),
      ];
    }
  }
}

/** Whole seconds; two digits of the year until 2049 (section 4.1.2.5). */
function timeOf(atMs: number): Time {
  const value = new Date(Math.floor(atMs / 1000) * 1000);
  const { UTCTime, GeneralizedTime } = TimeType;
  return new Time({ type: value.getUTCFullYear() < 2050 ? UTCTime : GeneralizedTime, value });
}

/** The PEM of a signed certificate (version 3). */
export function signCertificate(issuer: Issuer, content: CertificateContent): string {
  const { privateKey, name, keyIdentifier } = issuer;
  const { hash, algorithm } = signingOf(privateKey);
  const subjectPublicKeyInfo = publicKeyInfoOf(content.key);
  const own = new OctetString({ valueHex: identifierOf(subjectPublicKeyInfo) });
  const extensions = [...extensionsFor(content.purpose), extension('subjectKeyIdentifier', own)];
  if (keyIdentifier !== null) {
    const signer = new AuthorityKeyIdentifier({
      keyIdentifier: new OctetString({ valueHex: keyIdentifier }),
    });
    extensions.push(extension('authorityKeyIdentifier', signer.toSchema()));
  }
  const certificate = new Certificate({
    version: 2,
    serialNumber: new Integer({ valueHex: content.serial }),
    signature: algorithm(),
    issuer: name,
    notBefore: timeOf(content.fromMs),
    notAfter: timeOf(content.untilMs),
    subject: commonNameOf(content.commonName),
    subjectPublicKeyInfo,
    extensions,
    signatureAlgorithm: algorithm(),
  });
  const signature = sign(hash, new Uint8Array(certificate.encodeTBS().toBER()), privateKey);
  certificate.signatureValue = new BitString({ valueHex: new Uint8Array(signature) });
  return new X509Certificate(Buffer.from(certificate.toSchema(true).toBER())).toString();
}

/**
 * The P-256 key of a request (PKCS #10 in DER) that was signed with it by ECDSA and SHA-256; null for anything else, also
 * for one with something behind it. Nothing but the key is looked at.
 */
export function keyOfRequest(request: Uint8Array): KeyObject | null {
  try {
    const parsed = CertificationRequest.fromBER(request);
    const { signatureAlgorithm, signatureValue, subjectPublicKeyInfo, tbsView } = parsed;
    // PKI.js stops where the request ends, and reads more encodings than the one of DER.
    if (!Buffer.from(parsed.toSchema().toBER()).equals(request)) return null;
    const signature = signatureValue.valueBlock;
    if (!signatureAlgorithm.isEqual(signing['ec']?.algorithm()) || signature.unusedBits !== 0) return null;
    const spki = Buffer.from(subjectPublicKeyInfo.toSchema().toBER());
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return isP256 && verify('sha256', tbsView, key, signature.valueHexView) ? key : null;
  } catch {
    return null;
  }
}

/** A serial number of 16 random bytes; the first byte neither negative nor zero (section 4.1.2.2). */
export function certificateSerial(random: Uint8Array): Uint8Array {
  return Uint8Array.from(random, (byte, at) => (at === 0 ? (byte & 0x7f) | 0x40 : byte));
}
