// The signature of a person under an order that waits. A login only: an API token cannot touch a passkey.
import { Type } from 'typebox';
import { assertionLimits } from '../../../src/core/wire/assertion.ts';
import { provePasswordAgain } from '../../api/accounts/password-proof.ts';
import { base64urlText, passwordAgain } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { ok } from '../../api/base/shapes.ts';
import { approvalAnswer, exampleApproval, exampleApprovalID } from '../../api/commands/command-view.ts';
import { deciderOf, needApproval } from '../../api/commands/open-approval.ts';
import { agree } from '../../api/commands/signed-decision.ts';
import { viewFor } from '../../api/commands/signed-order.ts';
import { findCapFacts } from '../../store/commands/command-caps.ts';

const signCommand = operation({
  id: 'signCommand',
  method: 'POST',
  path: '/command/sign/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: 'none',
  tag: 'Commands',
  summary: "Sign an order as a person of the owner's list",
  description: `Our addition. A cut or unlock of a device with an owner's key (\`owner\` of getdevice) waits until so many persons of the owner's list have
signed it: \`signing.needed\`. Give \`signOptions\` of the request, or of \`listApprovals\`, to \`navigator.credentials.get\`, and send its answer here. Any operator
or administrator who sees the device may, also the one who asked, and several persons may sign in one session. With the last signature the
order is sent exactly as it was signed, and \`commandID\` is filled. The vehicle verifies each signature by the owner's key, which the service does not
have. The same person once more changes nothing.

In an account with \`needsApproval\` a cut also needs a second user: another user than the one who asked counts by signing, or by \`approveCommand\`. In
one with \`needsPassword\` another user than the one who asked sends their own \`password\`.

What is no signature answers 422 \`invalid_content\` with the pointer \`/assertion\` and the reason by name (\`unknown_passkey\`, \`role\`, \`vehicle\`, \`challenge\`,
\`origin\`, \`rp\`, \`user_absent\`, \`user_unverified\`, \`signature\`, \`list_ended\`, ...); it goes on waiting. A request that was decided, ran out or is \`void\`
answers 422 \`conflict\`.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      approvalID: Type.String({ minLength: 1, maxLength: 64, description: 'The request' }),
      assertion: Type.Object(
        {
          credential: base64urlText(assertionLimits.credential, '`id`'),
          clientData: base64urlText(assertionLimits.clientData, '`response.clientDataJSON`'),
          authenticatorData: base64urlText(assertionLimits.authenticatorData, '`response.authenticatorData`'),
          signature: base64urlText(assertionLimits.signature, '`response.signature`'),
        },
        {
          additionalProperties: false,
          description: 'Members of the answer of the browser, each in base64url',
        },
      ),
      password: Type.Optional(passwordAgain),
    },
    { additionalProperties: false },
  ),
  result: approvalAnswer,
  errors: ['not_found', 'conflict', 'password_needed', 'password_wrong', 'unavailable'],
  effects: true,
  proofMember: 'password',
  examples: {
    body: {
      approvalID: exampleApprovalID,
      assertion: {
        credential: 'q0Jx3hYbT1uC9nFvR7sLwA',
        clientData: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
        authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
        signature: 'MEUCIQDx',
      },
    },
    result: {
      ...exampleApproval,
      signing: {
        needed: 2,
        given: [{ personID: 'ann', name: 'Ann Li', userID: 'dispatch', at: 1763683230 }],
        order: {
          accountID: 'acme',
          deviceID: 'truck-17',
          boot: '8c1f0a9e',
          counter: 42,
          feature: 'enginecutoff',
          state: '1',
          expiresMs: 1763769600000,
          reason: 'stolen',
        },
      },
      signOptions: {
        rpID: 'fleet.example.com',
        challenge: 'p0Gv2b7Xr9oKQh1sVtYc3Jm5Zl8NwEaDfUiTgRkSxHA',
        credentials: ['r1Ky4iZcU2vD0oGwS8tMxB'],
        userVerification: 'required',
      },
    },
  },
  async run({ body: { approvalID, assertion, password }, caller, source }, services) {
    const actor = { caller, source };
    const row = await needApproval(services, caller, approvalID);
    if (row.requestedBy !== caller.userID) {
      const facts = await findCapFacts(services.db, deciderOf(services, caller));
      if (facts?.needsPassword === true) await provePasswordAgain(services, actor, password);
    }
    const { approval } = await agree(services, actor, row, assertion);
    return { ...(await viewFor(services, caller, approval)), ...ok };
  },
});

export const signOperations = [signCommand] as const;
