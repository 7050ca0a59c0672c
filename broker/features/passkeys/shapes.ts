// What browsers send and take, as `@simplewebauthn/browser` writes it (W3C Web Authentication Level 3, section 5.1.8).
import { type Static, Type } from 'typebox';
import { base64urlText } from '../../api/base/input-members.ts';

/** Longest credential id (section 4.1.1 of the specification: 1,023 bytes). */
export const passkeyIDText = base64urlText(1364, 'Credential id of the authenticator');

const members = {
  id: passkeyIDText,
  rawId: passkeyIDText,
  type: Type.Literal('public-key'),
  clientExtensionResults: Type.Record(Type.String({ maxLength: 64 }), Type.Unknown(), { maxProperties: 16 }),
  authenticatorAttachment: Type.Optional(Type.String({ maxLength: 32 })),
} as const;
const clientDataJSON = base64urlText(4096, 'What the browser has signed along');
const authenticatorData = base64urlText(4096, 'What the authenticator says');

export const registrationResponse = Type.Object(
  {
    ...members,
    response: Type.Object({
      clientDataJSON,
      attestationObject: base64urlText(16_384, 'The new public key'),
      authenticatorData: Type.Optional(authenticatorData),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
      publicKeyAlgorithm: Type.Optional(Type.Integer()),
      publicKey: Type.Optional(base64urlText(4096, 'The new public key, SPKI')),
    }),
  },
  { additionalProperties: false, description: 'Answer of the browser' },
);

export type RegistrationResponse = Static<typeof registrationResponse>;

export const authenticationResponse = Type.Object(
  {
    ...members,
    response: Type.Object({
      clientDataJSON,
      authenticatorData,
      signature: base64urlText(1024, 'Signature of the authenticator'),
      userHandle: Type.Optional(base64urlText(128, 'Name of the user in the authenticator')),
    }),
  },
  { additionalProperties: false, description: 'Answer of the browser' },
);

export type AuthenticationResponse = Static<typeof authenticationResponse>;

/** Options for the browser: passed on to it as they are. */
export const browserOptions = Type.Object(
  { challenge: Type.String({ description: 'Random; signed by the authenticator; used once' }) },
  { additionalProperties: true, description: 'Options for the browser, to be passed on as they are' },
);
