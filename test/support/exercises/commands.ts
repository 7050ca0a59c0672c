// Commands to devices without a vehicle: they wait for it, and are seen, replaced, withdrawn and limited.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { area, type Bench, createOwnDevice, mustRefuse, mustShow, truckIDs, userIDs } from './bench.ts';

const [truck, otherTruck] = truckIDs;

interface Sensor {
  readonly pendingState: string | null;
}

interface Device {
  readonly sensors: { readonly enginecutoff: Sensor; readonly cargoaccess: Sensor };
}

interface Command {
  readonly commandID: string;
  readonly hasEnded: boolean;
}

interface State {
  /** The cut that waits. */
  cutID: string;
}

async function mustWait(bench: Bench, feature: keyof Device['sensors'], pendingState: string): Promise<void> {
  const { sensors } = await bench.read<Device>(`/device/getdevice/${truck}`, 'viewer');
  mustShow(bench, `a device that waits for ${feature}`, {
    shown: sensors[feature],
    wanted: { pendingState },
  });
}

const readCommand = (bench: Bench, commandID: string): Promise<Command> =>
  bench.read<Command>(`/command/get/${commandID}`, 'viewer');

const cut = (deviceID: string) => ({ deviceID, feature: 'enginecutoff', state: '1', reason: 'simulation' });
const restore = (deviceID: string) => ({ deviceID, feature: 'enginecutoff', state: '0' });

export const commands = area<State>(
  async (bench) => {
    for (const name of truckIDs) await createOwnDevice(bench, name);
    return { cutID: '' };
  },
  [
    {
      operation: 'commandFeature',
      async run(bench, state) {
        await mustRefuse(bench, 'commandFeature', { as: 'viewer', body: cut(truck), code: 'forbidden' });
        const answer = await bench.call<Command>('commandFeature', { as: 'operator', body: cut(truck) });
        state.cutID = answer.commandID;
        bench.changed('command.request', truck, 'operator');
        const shown = await readCommand(bench, state.cutID);
        const wanted = { deviceID: truck, state: '1', issuer: userIDs.operator, hasEnded: false };
        mustShow(bench, 'a command', { shown, wanted });
        await mustWait(bench, 'enginecutoff', '1');
      },
    },
    {
      operation: 'commandFeatureEngineCutoff',
      async run(bench, { cutID }) {
        const body = { deviceID: truck, state: '0' };
        const { commandID } = await bench.call<Command>('commandFeatureEngineCutoff', {
          as: 'operator',
          body,
        });
        const shown = await readCommand(bench, commandID);
        mustShow(bench, 'a restore', { shown, wanted: { feature: 'enginecutoff', hasEnded: false } });
        await mustWait(bench, 'enginecutoff', '0');
        const { hasEnded } = await readCommand(bench, cutID);
        bench.look(hasEnded, 'a cut still waits after a restore');
        const none = { ...body, deviceID: 'operations-none' };
        await mustRefuse(bench, 'commandFeatureEngineCutoff', { body: none, code: 'not_found' });
      },
    },
    {
      operation: 'updateDeviceEngineCutoff',
      async run(bench) {
        const body = { deviceID: truck, state: '1' };
        await bench.call('updateDeviceEngineCutoff', { as: 'operator', body });
        await mustWait(bench, 'enginecutoff', '1');
        await bench.call('updateDeviceEngineCutoff', { as: 'operator', body: { ...body, state: '0' } });
        await mustWait(bench, 'enginecutoff', '0');
        await mustRefuse(bench, 'updateDeviceEngineCutoff', { as: 'viewer', body, code: 'forbidden' });
      },
    },
    {
      operation: 'updateDeviceCargoAccess',
      async run(bench) {
        const body = { deviceID: truck, state: '1' };
        await bench.call('updateDeviceCargoAccess', { as: 'operator', body });
        await mustWait(bench, 'cargoaccess', '1');
        await bench.call('updateDeviceCargoAccess', { as: 'operator', body: { ...body, state: '0' } });
        await mustWait(bench, 'cargoaccess', '0');
        await mustRefuse(bench, 'updateDeviceCargoAccess', { as: 'viewer', body, code: 'forbidden' });
      },
    },
    {
      operation: 'commandSend',
      async run(bench) {
        const unlock = { device: otherTruck, newStatusCode: String(statusCodes.DOOR_UNLOCK.code) };
        const { commandID } = await bench.call<Command>('commandSend', { as: 'operator', params: unlock });
        bench.changed('command.request', otherTruck, 'operator');
        const shown = await readCommand(bench, commandID);
        const wanted = { deviceID: otherTruck, feature: 'cargoaccess', state: '1', hasEnded: false };
        mustShow(bench, 'a command by status code', { shown, wanted });
        const none = { device: otherTruck, newStatusCode: '1' };
        await mustRefuse(bench, 'commandSend', { params: none, code: 'invalid_content' });
      },
    },
    {
      operation: 'cancelCommand',
      async run(bench) {
        const path = `/command/list/${otherTruck}`;
        const { commands: listed } = await bench.read<{ commands: readonly Command[] }>(path);
        const { commandID = '' } = listed.find(({ hasEnded }) => !hasEnded) ?? {};
        await bench.call('cancelCommand', { as: 'operator', body: { commandID } });
        bench.changed('command.cancel', otherTruck, 'operator');
        const shown = await readCommand(bench, commandID);
        const wanted = { commandState: 'cancelled', cancelledBy: userIDs.operator, hasEnded: true };
        mustShow(bench, 'a withdrawn command', { shown, wanted });
        const none = { commandID: '0'.repeat(32) };
        await mustRefuse(bench, 'cancelCommand', { body: none, code: 'not_found' });
      },
    },
    {
      operation: 'commandDevices',
      async run(bench) {
        const deviceIDs = [...truckIDs, 'operations-none'];
        const body = { deviceIDs, feature: 'cargoaccess', state: '0' };
        const answer = await bench.call<{ items: readonly { command: Command | null }[] }>('commandDevices', {
          as: 'operator',
          body,
        });
        mustShow(bench, 'a command to many', { shown: answer, wanted: { done: truckIDs.length, failed: 1 } });
        for (const [at, deviceID] of truckIDs.entries()) {
          const shown = await readCommand(bench, answer.items[at]?.command?.commandID ?? '');
          mustShow(bench, 'a command to one of many', { shown, wanted: { deviceID, state: '0' } });
        }
        await mustRefuse(bench, 'commandDevices', { as: 'viewer', body, code: 'forbidden' });
      },
    },
    {
      operation: 'resetBreaker',
      async run(bench) {
        const { accountID } = bench;
        const reason = 'simulation';
        await bench.call('updateAccount', { body: { accountID, cutsPerHour: 1 } });
        await bench.call('commandFeature', { as: 'second', body: cut(truck) });
        await mustRefuse(bench, 'commandFeature', {
          as: 'second',
          body: cut(otherTruck),
          code: 'conflict',
        });
        // The breaker of one user: the others go on.
        const wanted = { isBreakerOpen: true, breakerOpenedBy: userIDs.second };
        const open = await bench.read<object>('/command/limits', 'second');
        mustShow(bench, 'a breaker after too many cuts', { shown: open, wanted });
        const ofOther = await bench.read<object>('/command/limits', 'operator');
        const stopped = { isBreakerOpen: false, stoppedUsers: [userIDs.second] };
        mustShow(bench, 'limits of another user', { shown: ofOther, wanted: stopped });
        await bench.call('commandFeature', { as: 'operator', body: restore(truck) });
        await mustRefuse(bench, 'resetBreaker', { as: 'second', body: { reason }, code: 'conflict' });
        await mustRefuse(bench, 'resetBreaker', { as: 'operator', body: { reason }, code: 'forbidden' });
        await bench.call('resetBreaker', { body: { reason } });
        bench.changed('command.resetbreaker', accountID);
        const closed = await bench.read<object>('/command/limits', 'second');
        const reset = { isBreakerOpen: false, stoppedUsers: [] };
        mustShow(bench, 'a breaker that was reset', { shown: closed, wanted: reset });
        await bench.call('updateAccount', { body: { accountID, cutsPerHour: 20 } });
      },
    },
  ],
);

interface Asked {
  readonly approvalID: string;
  readonly commandID: string;
}

async function mustBe(bench: Bench, approvalID: string, wanted: Readonly<Record<string, unknown>>) {
  const { approvals: all } = await bench.read<{ approvals: readonly Asked[] }>(
    '/command/approvals?state=all',
    'viewer',
  );
  mustShow(bench, 'a request', { shown: all.find((one) => one.approvalID === approvalID), wanted });
}

/** The operator asks for a cut. */
async function ask(bench: Bench): Promise<string> {
  const answer = await bench.call<Asked>('commandFeature', { as: 'operator', body: cut(otherTruck) });
  bench.changed('command.askapproval', otherTruck, 'operator');
  bench.look(answer.commandID === '', 'a cut was sent that one user asked for');
  await mustBe(bench, answer.approvalID, { approvalState: 'pending', requestedBy: userIDs.operator });
  return answer.approvalID;
}

/** Requests to a second person. It comes after `commands`: it works with their devices. */
export const approvals = area(
  async (bench) => {
    const { accountID } = bench;
    await bench.call('updateAccount', { body: { accountID, needsApproval: true } });
    return null;
  },
  [
    {
      operation: 'refuseCommand',
      async run(bench) {
        const approvalID = await ask(bench);
        const body = { approvalID, reason: 'wrong vehicle' };
        await mustRefuse(bench, 'refuseCommand', { as: 'operator', body, code: 'conflict' });
        await bench.call('refuseCommand', { as: 'second', body });
        bench.changed('command.refuse', otherTruck, 'second');
        const wanted = { approvalState: 'refused', decidedBy: userIDs.second, decidedReason: body.reason };
        await mustBe(bench, approvalID, wanted);
        await mustRefuse(bench, 'approveCommand', { as: 'second', body: { approvalID }, code: 'conflict' });
      },
    },
    {
      operation: 'withdrawCommand',
      async run(bench) {
        const approvalID = await ask(bench);
        await mustRefuse(bench, 'withdrawCommand', { as: 'viewer', body: { approvalID }, code: 'forbidden' });
        await bench.call('withdrawCommand', { as: 'operator', body: { approvalID } });
        bench.changed('command.withdraw', otherTruck, 'operator');
        await mustBe(bench, approvalID, { approvalState: 'withdrawn', commandID: '' });
        await mustRefuse(bench, 'approveCommand', { as: 'second', body: { approvalID }, code: 'conflict' });
      },
    },
    {
      operation: 'approveCommand',
      async run(bench) {
        const approvalID = await ask(bench);
        const body = { approvalID };
        await mustRefuse(bench, 'approveCommand', { as: 'operator', body, code: 'conflict' });
        const { commandID } = await bench.call<Asked>('approveCommand', { as: 'second', body });
        bench.changed('command.approve', otherTruck, 'second');
        await mustBe(bench, approvalID, { approvalState: 'approved', commandID });
        const shown = await readCommand(bench, commandID);
        const wanted = { issuer: userIDs.operator, approver: userIDs.second, hasEnded: false };
        mustShow(bench, 'an approved command', { shown, wanted });
        await bench.call('commandFeature', { as: 'operator', body: restore(otherTruck) });
        const { hasEnded } = await readCommand(bench, commandID);
        bench.look(hasEnded, 'an approved cut still waits after a restore');
      },
    },
    {
      operation: 'updateAccount',
      async run(bench) {
        const { accountID } = bench;
        const off = { accountID, needsApproval: false };
        await bench.call('updateAccount', { body: off });
        mustShow(bench, 'an account in which one asks to switch approvals off', {
          shown: await bench.read<object>('/auth/account'),
          wanted: { needsApproval: true, approvalOffRequestedBy: userIDs.admin },
        });
        await bench.call('updateAccount', { as: 'second', body: off });
        bench.changed('account.update', accountID, 'second');
        mustShow(bench, 'an account in which two switched approvals off', {
          shown: await bench.read<object>('/auth/account'),
          wanted: { needsApproval: false, approvalOffRequestedBy: '' },
        });
      },
    },
  ],
);
