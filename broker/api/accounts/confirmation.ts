// Confirmation of a new approver: an administrator states that a user whom another administrator created, promoted or gave
// rights is a separate person. Without it one administrator could be both persons of an engine cut.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { providerActor } from '../../core/accounts/provider-identity.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import { confirm, mayConfirm, vouch } from '../../store/accounts/second-person.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { ok } from '../base/shapes.ts';
import { needUser } from './user-lookup.ts';
import { noticeOf } from './user-notice.ts';
import { exampleUser, user, viewUser } from './user-view.ts';

/** Reason why a pending user was not confirmed. */
function refusal(caller: Caller, userID: string, grantedBy: string): AppError {
  const message = `${JSON.stringify(userID)} was not confirmed: nothing was changed`;
  const isOwn = grantedBy === caller.userID || userID === caller.userID;
  return new AppError('conflict', message, {
    hint: isOwn
      ? 'Another administrator must confirm this user. In an account with one administrator the operator of the service does: fleetward-broker account confirm.'
      : 'You must have been an administrator for a day, and confirmed yourself.',
  });
}

const confirmUser = operation({
  id: 'confirmUser',
  method: 'POST',
  path: '/user/confirmuser/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Users',
  summary: 'Confirm a new approver',
  description: `Our addition. Confirms that a user is a separate person. From then on, and a day after the last grant, the user counts
as a second user. An administrator confirms users that another administrator (\`grantedBy\`) created, promoted, reactivated, or gave a password or more
devices. An administrator who is unconfirmed confirms no user, and none confirms their own user: 422 \`conflict\`. A user who is already
confirmed is returned unchanged, and nothing is recorded. In an account with one administrator the operator of the service
confirms: \`fleetward-broker account confirm\`. What the login provider granted (\`grantedBy\` \`OpenID Connect\`) needs two administrators: the first
call makes its administrator the grantor and leaves \`isConfirmed\` false, and another administrator confirms. Confirm only a person that you know; the name alone proves nothing.`,
  params: Type.Object({}),
  body: Type.Object(
    { userID: Type.String({ minLength: 1, maxLength: 64, description: 'The user' }) },
    { additionalProperties: false },
  ),
  result: user,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { userID: 'guest' }, result: exampleUser },
  async run({ body: { userID }, caller, source }, services: ApiServices) {
    const { accountID } = caller;
    const known = await needUser(services, caller, userID);
    if (known.grantedBy === null) return { ...viewUser(known), ...ok };
    const nowS = Math.floor(services.clock.utcMs() / 1000);
    const { grantedBy } = known;
    const onlyIf = mayConfirm({ accountID, userID: caller.userID, nowS }, { userID, grantedBy });
    const isVouching = grantedBy === providerActor;
    const action = isVouching ? 'user.vouch' : 'user.confirm';
    const topic = isVouching ? 'unconfirmed' : 'confirmed';
    const key = { accountID, userID };
    const results = await services.db.write([
      lockAccount(accountID),
      auditEntry(services, { caller, source }, { action, object: userID, detail: { grantedBy }, onlyIf }),
      ...noticeOf(services, caller, { userID, topic, onlyIf }),
      isVouching ? vouch(key, { grantedBy, by: caller.userID, onlyIf }) : confirm(key, onlyIf),
    ]);
    const now = await needUser(services, caller, userID);
    services.wakeDelivery();
    if (results.at(-1)?.changes !== 1 && now.grantedBy !== null) throw refusal(caller, userID, now.grantedBy);
    return { ...viewUser(now), ...ok };
  },
});

export const confirmationOperations = [confirmUser] as const;
