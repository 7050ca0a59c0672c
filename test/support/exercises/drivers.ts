// Drivers: made with a key, which is handed on, and ended.
import { area, type Bench, mustRefuse, mustShow } from './bench.ts';

const [ann, bob] = ['operations-ann', 'operations-bob'];
const keyID = '0A0000C0DE';

interface Drivers {
  readonly drivers: readonly {
    readonly driverID: string;
    readonly auditObject: string;
    readonly keys: readonly { readonly endTime: number }[];
  }[];
}

const readDriver = async (bench: Bench, driverID: string) =>
  (await bench.read<Drivers>('/driver/getdrivers')).drivers.find((one) => one.driverID === driverID);

async function isChanged(bench: Bench, driverID: string, action: string): Promise<void> {
  const shown = await readDriver(bench, driverID);
  bench.look(shown !== undefined, `the driver ${driverID} is not listed`);
  bench.changed(action, shown?.auditObject ?? '', 'operator');
}

export const drivers = area<null>(
  async () => null,
  [
    {
      operation: 'driverUpdate',
      async run(bench) {
        const names = { driverDisplayName: 'Ann', phone: '+1 416 555 0142' };
        const made = { driverID: ann, ...names, keys: [{ keyID: '0a:00:00:c0:de' }] };
        await bench.call('driverUpdate', { as: 'operator', body: made });
        await isChanged(bench, ann, 'driver.create');
        const keys = [{ keyID, startTime: 0, endTime: 0 }];
        mustShow(bench, 'a created driver', {
          shown: await readDriver(bench, ann),
          wanted: { ...names, keys },
        });
        const other = {
          driverID: bob,
          driverDisplayName: 'Bob',
          keys: [{ keyID, startTime: bench.nowS() - 60 }],
        };
        await mustRefuse(bench, 'driverUpdate', { as: 'operator', body: other, code: 'conflict' });
        await bench.call('driverUpdate', { as: 'operator', body: { ...other, takesOver: true } });
        await isChanged(bench, bob, 'driver.create');
        const before = await readDriver(bench, ann);
        bench.look(before?.keys[0]?.endTime !== 0, 'a key that was handed on is still of two drivers');
        await mustRefuse(bench, 'driverUpdate', { as: 'viewer', body: made, code: 'forbidden' });
      },
    },
    {
      operation: 'deleteDriver',
      async run(bench) {
        await bench.call('deleteDriver', { as: 'operator', body: { driverID: bob } });
        await isChanged(bench, bob, 'driver.leave');
        const erase = { driverID: bob, erase: true };
        await mustRefuse(bench, 'deleteDriver', { as: 'operator', body: erase, code: 'forbidden' });
        for (const driverID of [ann, bob]) {
          const shown = await readDriver(bench, driverID);
          await bench.call('deleteDriver', { body: { driverID, erase: true } });
          bench.changed('driver.erase', shown?.auditObject ?? '');
          bench.look((await readDriver(bench, driverID)) === undefined, 'an erased driver is listed');
        }
        await mustRefuse(bench, 'deleteDriver', { body: { driverID: ann }, code: 'not_found' });
      },
    },
  ],
);
