// The software authenticator as a browser speaks of it (W3C Web Authentication Level 3, sections 6.1, 6.5 and 8.7; RFC 9053): it makes a passkey without
// attestation and counts its signatures. Each part of what it says can be replaced, as an attacker would.
import { createHash, createPublicKey } from 'node:crypto';
import { createAuthenticator } from '../machine/authenticator.ts';

/** CBOR (RFC 8949) of small maps, byte strings, texts and integers. */
function cborOf(value: unknown): Buffer {
  const head = (major: number, length: number): Buffer => {
    const top = major * 32;
    if (length < 24) return Buffer.from([top + length]);
    return length < 256
      ? Buffer.from([top + 24, length])
      : Buffer.from([top + 25, length >> 8, length & 255]);
  };
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...(value as ReadonlyMap<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap((pair) => pair.map(cborOf))]);
}

const textOf = (bytes: Buffer): string => bytes.toString('base64url');

interface Said {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
  readonly crossOrigin: boolean;
}

export interface Ceremony {
  /** As the service gave it. */
  readonly challenge: string;
  readonly origin?: string;
  readonly rpID?: string;
  /** Bit 0: user present, bit 2: user verified (section 6.1). */
  readonly flags?: number;
  readonly said?: Partial<Said>;
}

const userVerified = 0b101;
const hasCredential = 0x40;

export function createSoftwarePasskey() {
  const authenticator = createAuthenticator('ES256');
  const id = authenticator.credential;
  const spki = Buffer.from(authenticator.publicKey, 'base64url');
  const { x = '', y = '' } = createPublicKey({ key: spki, type: 'spki', format: 'der' }).export({
    format: 'jwk',
  }) as { readonly x?: string; readonly y?: string };
  const credentialID = Buffer.from(id, 'base64url');
  let counter = 0;
  const base = { id, rawId: id, type: 'public-key', clientExtensionResults: {} };
  const clientOf = ({ challenge, origin = 'http://localhost:8080', said = {} }: Ceremony) => ({
    challenge,
    origin,
    ...said,
  });
  const dataOf = (
    { rpID = 'localhost', flags = userVerified }: Ceremony,
    more: number,
    credential: Buffer,
  ) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([
      createHash('sha256').update(rpID).digest(),
      Buffer.from([flags | more]),
      count,
      credential,
    ]);
  };
  return {
    id,
    /** What `navigator.credentials.create` gives. */
    create(ceremony: Ceremony) {
      const key = new Map<number, number | Buffer>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const length = Buffer.from([0, credentialID.length]);
      const credential = Buffer.concat([Buffer.alloc(16), length, credentialID, cborOf(key)]);
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', dataOf(ceremony, hasCredential, credential)],
      ]);
      const said = { type: 'webauthn.create', crossOrigin: false, ...clientOf(ceremony) };
      const clientDataJSON = textOf(Buffer.from(JSON.stringify(said)));
      return { ...base, response: { clientDataJSON, attestationObject: textOf(cborOf(attestation)) } };
    },
    /** What `navigator.credentials.get` gives. @param back how far its count goes back first, as a copy's would. */
    get(ceremony: Ceremony, back = 0) {
      counter += 1 - back;
      const authenticatorData = dataOf(ceremony, 0, Buffer.alloc(0));
      const options = { client: clientOf(ceremony), authenticatorData };
      const { clientData, signature } = authenticator.assert(Buffer.alloc(0), options);
      return {
        ...base,
        response: { clientDataJSON: clientData, authenticatorData: textOf(authenticatorData), signature },
      };
    },
  };
}
