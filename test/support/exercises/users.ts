// Users and what belongs to them: made, changed, confirmed, deleted.
import { area, type Bench, mustHide, mustRefuse, mustShow, userIDs } from './bench.ts';

const guest = 'operations-guest';

interface State {
  password: string;
  /** Of a login of the guest. */
  token: string;
}

const logIn = async (bench: Bench, password: string): Promise<string> => {
  const body = { accountID: bench.accountID, userID: guest, password };
  const { token } = await bench.call<{ token: string }>('login', { as: null, body });
  bench.secret(token);
  return token;
};

const readGuest = (bench: Bench): Promise<object> => bench.read<object>(`/user/getuser/${guest}`);

export const users = area<State>(
  () => ({ password: '', token: '' }),
  [
    {
      operation: 'createUser',
      async run(bench, state) {
        state.password = bench.unique();
        bench.secret(state.password);
        const body = { userID: guest, password: state.password, userDisplayName: 'Gate house', groups: [] };
        await bench.call('createUser', { body });
        bench.changed('user.create', guest);
        const { users: all } = await bench.read<{ users: readonly { userID: string }[] }>(
          '/user/getallusers',
        );
        const wanted = {
          userDisplayName: 'Gate house',
          roleID: 'viewer',
          isActive: true,
          isConfirmed: false,
        };
        mustShow(bench, 'a created user', { shown: all.find(({ userID }) => userID === guest), wanted });
        await mustRefuse(bench, 'createUser', { body, code: 'conflict' });
        await mustRefuse(bench, 'createUser', {
          as: 'operator',
          body: { ...body, userID: `${guest}-2` },
          code: 'forbidden',
        });
        state.token = await logIn(bench, state.password);
        bench.changed('login', guest, { userID: guest });
      },
    },
    {
      operation: 'updateUser',
      async run(bench) {
        const change = { userDisplayName: 'Night gate', roleID: 'operator', contactPhone: '+1 555 0100' };
        await bench.call('updateUser', { body: { userID: guest, ...change } });
        bench.changed('user.update', guest);
        mustShow(bench, 'a changed user', { shown: await readGuest(bench), wanted: change });
        await mustRefuse(bench, 'updateUser', { body: { userID: 'operations-none' }, code: 'not_found' });
      },
    },
    {
      operation: 'confirmUser',
      async run(bench) {
        // The creator of a user cannot confirm it.
        await mustRefuse(bench, 'confirmUser', { body: { userID: guest }, code: 'conflict' });
        await bench.call('confirmUser', { as: 'second', body: { userID: guest } });
        bench.changed('user.confirm', guest, 'second');
        mustShow(bench, 'a confirmed user', { shown: await readGuest(bench), wanted: { isConfirmed: true } });
      },
    },
    {
      operation: 'savePreferences',
      async run(bench, { token }) {
        const preferences = { units: 'metric', map: { style: 'dark' } };
        await bench.call('savePreferences', { as: { token }, body: { preferences } });
        const shown = await bench.read<object>('/user/preferences', { token });
        mustShow(bench, 'saved preferences', { shown, wanted: { preferences } });
        const other = await bench.read<object>('/user/preferences', 'viewer');
        mustShow(bench, 'preferences of another user', { shown: other, wanted: { preferences: {} } });
        const late = { preferences: {}, revision: 0 };
        await mustRefuse(bench, 'savePreferences', { as: { token }, body: late, code: 'conflict' });
      },
    },
    {
      operation: 'changePassword',
      async run(bench, state) {
        const { token, password: currentPassword } = state;
        const newPassword = bench.unique();
        bench.secret(newPassword);
        await bench.call('changePassword', { as: { token }, body: { currentPassword, newPassword } });
        bench.changed('user.password', guest, { userID: guest });
        const old = { accountID: bench.accountID, userID: guest, password: currentPassword };
        await mustRefuse(bench, 'login', { as: null, body: old, code: 'login_failed' });
        await logIn(bench, newPassword);
        await bench.read('/user/preferences', { token });
      },
    },
    {
      operation: 'deleteUser',
      async run(bench, { token }) {
        await bench.call('deleteUser', { body: { userID: guest } });
        bench.changed('user.delete', guest);
        await mustHide(bench, `/user/getuser/${guest}`, { code: 'not_found' });
        await mustHide(bench, '/user/preferences', { as: { token }, code: 'unauthorized' });
        await mustRefuse(bench, 'deleteUser', { body: { userID: guest }, code: 'not_found' });
        await mustRefuse(bench, 'deleteUser', { body: { userID: userIDs.admin }, code: 'conflict' });
      },
    },
  ],
);
