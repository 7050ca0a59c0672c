// The exchange between a unit and the broker, with the real cryptography and everything on the way in an attacker's hands.
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { createEnrolmentCrypto } from '../../src/adapters/enrolment-crypto.ts';
import {
  type CodeKey,
  decodeGrant,
  decodeSealedGrant,
  type EnrolmentGrant,
  type EnrolmentRequest,
  type ExchangeKey,
  encodeGrant,
  type SealedGrant,
  transcriptOf,
} from '../../src/core/wire/enrolment.ts';

const crypto = createEnrolmentCrypto(createSeededEntropy('enrolment'));
const code = { codeID: '7K3M9Q', secret: 'PX0V4HB2TDW8RN5F' };
const grant: EnrolmentGrant = {
  accountID: 'acme',
  deviceID: 'truck-17',
  secret: 'hV5mN0b1cXr8sQ2wE7tY4uI9oP3aD6fG1jK5lZ8xC0v',
  publicKey: Buffer.alloc(32, 7).toString('base64'),
  mqttUrls: ['mqtts://broker.example.com:8883'],
  ca: null,
  certificate: null,
  serverTimeMs: 1_767_614_400_000,
};

let key: CodeKey;
let other: CodeKey;
let unit: ExchangeKey;
let request: EnrolmentRequest;
let answer: SealedGrant;

beforeAll(async () => {
  key = await crypto.deriveCodeKey(code);
  other = await crypto.deriveCodeKey({ ...code, secret: 'PX0V4HB2TDW8RN5G' });
  unit = crypto.createExchangeKey();
  const said = { codeID: code.codeID, deviceKey: unit.publicKey, nonce: 'AAECAwQFBgcICQoLDA0ODw' };
  request = { ...said, proof: crypto.sign(key.seed, transcriptOf(said)) };
  const sealed = crypto.seal({ verifier: key.verifier, request }, encodeGrant(grant));
  if (sealed === null) throw new Error('was not sealed');
  answer = sealed;
});

const open = (changes: Partial<Parameters<typeof crypto.open>[0]> = {}, sealed = answer) =>
  crypto.open({ verifier: key.verifier, privateKey: unit.privateKey, request, ...changes }, sealed);

/** One bit of base64url text flipped, in what it decodes to. */
const flip = (text: string, at: number): string => {
  const bytes = Buffer.from(text, 'base64url');
  const index = Math.floor(at / 8) % bytes.length;
  bytes[index] = (bytes[index] ?? 0) ^ (1 << (at % 8));
  return bytes.toString('base64url');
};

describe('an enrolment', () => {
  it('gives the unit what the broker sealed', () => {
    expect(crypto.verify(key.verifier, request)).toBe(true);
    const plain = open();
    expect(plain === null ? null : decodeGrant(plain)).toEqual(grant);
  });

  it('derives the same key from the same code, and another from any other', async () => {
    expect(await crypto.deriveCodeKey(code)).toEqual(key);
    expect(other.verifier).not.toBe(key.verifier);
    expect((await crypto.deriveCodeKey({ ...code, codeID: '7K3M9R' })).verifier).not.toBe(key.verifier);
  });

  it('is refused when anything that the unit says is changed by one bit', () => {
    const members = ['deviceKey', 'nonce', 'proof'] as const;
    fc.assert(
      fc.property(fc.constantFrom(...members), fc.nat({ max: 511 }), (member, bit) => {
        expect(crypto.verify(key.verifier, { ...request, [member]: flip(request[member], bit) })).toBe(false);
      }),
    );
    expect(crypto.verify(key.verifier, { ...request, codeID: '7K3M9R' })).toBe(false);
    expect(crypto.verify(key.verifier, { ...request, certificateRequest: 'AA' })).toBe(false);
    expect(crypto.verify(other.verifier, request)).toBe(false);
    expect(crypto.verify(null, request)).toBe(false);
  });

  it('gives nothing when anything of the answer is changed by one bit', () => {
    fc.assert(
      fc.property(fc.constantFrom('brokerKey', 'sealed'), fc.nat({ max: 4000 }), (member, bit) => {
        const changed = flip(answer[member], bit);
        // X25519 does not look at the topmost bit; here it is bound to the seal as text.
        expect(open({}, { ...answer, [member]: changed })).toBeNull();
      }),
    );
    for (const sealed of ['', 'AAAA', answer.sealed.slice(0, -4), `${answer.sealed}AAAA`]) {
      expect(open({}, { ...answer, sealed })).toBeNull();
    }
  });

  it('gives nothing without the code and the key of the unit, and nothing for another request', () => {
    expect(open({ verifier: other.verifier })).toBeNull();
    expect(open({ privateKey: crypto.createExchangeKey().privateKey })).toBeNull();
    expect(open({ request: { ...request, nonce: 'BAECAwQFBgcICQoLDA0ODw' } })).toBeNull();
    expect(open({ request: { ...request, proof: flip(request.proof, 9) } })).toBeNull();
  });

  it('cannot be answered by a proxy that does not know the code', () => {
    const forged = crypto.seal({ verifier: other.verifier, request }, encodeGrant(grant));
    expect(forged === null ? null : open({}, forged)).toBeNull();
  });

  it('cannot be begun with a stolen table of codes', () => {
    // What the broker keeps is the public half: it verifies, and nothing can be signed with it.
    const said = { codeID: code.codeID, deviceKey: unit.publicKey, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' };
    const forged = crypto.sign(Buffer.from(key.verifier, 'base64url'), transcriptOf(said));
    expect(crypto.verify(key.verifier, { ...said, proof: forged })).toBe(false);
  });

  it('is not sealed to a key that gives every peer the same secret', () => {
    for (const point of [Buffer.alloc(32), Buffer.concat([Buffer.from([1]), Buffer.alloc(31)])]) {
      const deviceKey = point.toString('base64url');
      expect(
        crypto.seal({ verifier: key.verifier, request: { ...request, deviceKey } }, encodeGrant(grant)),
      ).toBeNull();
    }
  });

  it('is never sealed twice the same', () => {
    const again = crypto.seal({ verifier: key.verifier, request }, encodeGrant(grant));
    expect(again?.brokerKey).not.toBe(answer.brokerKey);
    expect(again?.sealed).not.toBe(answer.sealed);
  });

  it('never throws, whatever a stranger sends', () => {
    const text = fc.string({ maxLength: 100 });
    fc.assert(
      fc.property(text, text, text, (one, two, three) => {
        const wild = { codeID: one, deviceKey: two, nonce: three, proof: one };
        expect(crypto.verify(key.verifier, wild)).toBe(false);
        expect(open({}, { brokerKey: two, sealed: three })).toBeNull();
        crypto.seal({ verifier: key.verifier, request: wild }, new Uint8Array(3));
        expect(decodeSealedGrant(one)).toBeNull();
        expect(decodeGrant(new TextEncoder().encode(one))).toBeNull();
      }),
    );
  });

  it('gives no grant of which a member could become something else in a file', () => {
    const wrong: Partial<Record<keyof EnrolmentGrant, unknown>>[] = [
      { accountID: '../x' },
      { deviceID: '' },
      { secret: 'short' },
      { secret: `${'a'.repeat(20)}\n[broker]` },
      { publicKey: 'AAAA' },
      { mqttUrls: ['http://x'] },
      { mqttUrls: ['mqtt://user@x'] },
      { mqttUrls: ['mqtt://x\n[board]'] },
      { mqttUrls: ['mqtt://x"'] },
      { mqttUrls: 'mqtt://x' },
      { ca: 'no PEM' },
      { certificate: 5 },
      { serverTimeMs: -1 },
      { serverTimeMs: '1' },
    ];
    for (const change of wrong) {
      const bytes = new TextEncoder().encode(JSON.stringify({ ...grant, ...change }));
      expect(decodeGrant(bytes), JSON.stringify(change)).toBeNull();
    }
  });
});
