// The owner's document, and an order that a person of its list signs. The device says hello with the owner's key; no vehicle is behind it.
import type { PersonalOrder } from '../../../src/core/persons/persons.ts';
import { helloOf } from '../broker/broker-bench.ts';
import { createTestOwner } from '../machine/test-owner.ts';
import { area, type Bench, connectOwnDevice, mustRefuse, mustShow, userIDs } from './bench.ts';

export const ownedID = 'operations-owned';
const owner = createTestOwner(['ann'], ['operations/*']);

interface Asked {
  readonly approvalID: string;
  readonly signing: { readonly order: PersonalOrder } | null;
}

const holdsOwner = (bench: Bench): Promise<boolean> =>
  bench.eventually(async () => {
    const device = await bench.read<{ readonly owner: object | null }>(`/device/getdevice/${ownedID}`);
    return device.owner !== null;
  });

const isOffline = (bench: Bench): Promise<boolean> =>
  bench.eventually(async () => {
    const { online } = await bench.read<{ readonly online: boolean }>(`/diagnostic/diagnostic/${ownedID}`);
    return !online;
  });

export const owners = area(
  async (bench) => {
    const connection = await connectOwnDevice(bench, ownedID);
    const hello = helloOf('owned', { owner: { pin: owner.pin, set: 0, list: 0 } });
    await connection.publish('hello', JSON.stringify(hello));
    bench.look(await holdsOwner(bench), 'a device does not show the owner of its hello');
    // An order that waits for the link can be withdrawn without the vehicle.
    connection.close();
    bench.look(await isOffline(bench), 'a device whose connection ended is online');
    return null;
  },
  [
    {
      operation: 'setOwner',
      async run(bench) {
        const body = { document: owner.documentText() };
        await mustRefuse(bench, 'setOwner', { as: 'operator', body, code: 'forbidden' });
        await mustRefuse(bench, 'setOwner', { body: { document: '{}' }, code: 'invalid_content' });
        await bench.call('setOwner', { body });
        bench.changed('owner.set', bench.accountID);
        const { owners: shown } = await bench.read<{ readonly owners: readonly object[] }>('/owner/get');
        mustShow(bench, 'an owner', { shown: shown[0], wanted: { pin: owner.pin, units: 1, outdated: 1 } });
      },
    },
    {
      operation: 'signCommand',
      async run(bench) {
        const unlock = { deviceID: ownedID, feature: 'cargoaccess', state: '1', reason: 'simulation' };
        const { approvalID, signing } = await bench.call<Asked>('commandFeature', {
          as: 'operator',
          body: unlock,
        });
        bench.changed('command.askapproval', ownedID, 'operator');
        if (signing === null) return bench.look(false, 'an order of a device with an owner needs no person');
        const body = { approvalID, assertion: owner.sign('ann', signing.order) };
        const stranger = { approvalID, assertion: createTestOwner(['ann']).sign('ann', signing.order) };
        await mustRefuse(bench, 'signCommand', { as: 'operator', body: stranger, code: 'invalid_content' });
        await mustRefuse(bench, 'signCommand', { as: 'viewer', body, code: 'forbidden' });
        const signed = await bench.call<object>('signCommand', { as: 'second', body });
        bench.changed('command.sign', ownedID, 'second');
        const wanted = { approvalState: 'approved', requestedBy: userIDs.operator };
        mustShow(bench, 'a signed order', { shown: signed, wanted });
        await mustRefuse(bench, 'signCommand', { as: 'second', body, code: 'conflict' });
      },
    },
  ],
);
