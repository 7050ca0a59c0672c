// A user's own password: changed with the old one, which ends every other session.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { passwordMost } from '../../core/accounts/password.ts';
import { changeOwnPassword } from '../../store/accounts/users.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { needStrongPassword, newPassword } from '../base/input-members.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { proveCurrentPassword } from './password-proof.ts';

export const changePassword = operation({
  id: 'changePassword',
  method: 'POST',
  path: '/user/changepassword/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Users',
  summary: 'Change your own password',
  description: `Sets the password of the calling user. All other logins and API tokens of the user end; the token of the call stays valid. A
wrong \`currentPassword\` answers 422 and counts for the sessions of this user alone: after some of them the answer is 503
\`throttled\`, while logins go on. Administrators set the password of others with \`updateUser\`. \`newPassword\` is checked as there.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      currentPassword: Type.String({
        minLength: 1,
        maxLength: passwordMost,
        description: 'The one until now',
      }),
      newPassword,
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['invalid_content', 'throttled', 'conflict'],
  effects: true,
  // A repeat is known by a hash of the body, which would be a fast hash of the password.
  answerIsSecret: true,
  examples: {
    body: { currentPassword: 'correct horse battery staple', newPassword: 'seven lamps over the yard' },
  },
  async run({ body, caller, source }, services) {
    const { accountID, userID, tokenHash } = caller;
    needStrongPassword(body.newPassword, caller, '/newPassword');
    const password = body.currentPassword;
    const credentials = { accountID, userID, password, address: source, session: tokenHash };
    const oldHash = await proveCurrentPassword(credentials, services);
    const passwordHash = await services.passwords.hash(body.newPassword);
    const results = await services.db.write(
      changeOwnPassword({ accountID, userID, oldHash, passwordHash, tokenHash }, (onlyIf) =>
        auditEntry(services, { caller, source }, { action: 'user.password', object: userID, onlyIf }),
      ),
    );
    if (results.at(-1)?.changes !== 1) {
      throw new AppError('conflict', 'The password was changed by another request at the same moment');
    }
    return ok;
  },
});
