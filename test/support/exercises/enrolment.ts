// Enrolment codes: a unit uses one once, and a code that was revoked gives nothing.
import { AppError } from '../../../src/core/errors.ts';
import { area, type Bench, createOwnDevice, mustRefuse, mustShow } from './bench.ts';

interface Made {
  readonly code: string;
  readonly codeID: string;
}

async function makeCode(bench: Bench, deviceID: string): Promise<Made> {
  const made = await bench.call<Made>('createEnrolmentCode', { body: { deviceID, hours: 1 } });
  bench.secret(made.code);
  return made;
}

async function mustBe(bench: Bench, codeID: string, state: string): Promise<void> {
  const { codes } = await bench.read<{ codes: readonly Made[] }>('/device/enrolmentcodes');
  const shown = codes.find((one) => one.codeID === codeID);
  mustShow(bench, 'an enrolment code', { shown, wanted: { state } });
}

/** Whether a code is refused as one that has ended. */
async function isOver(bench: Bench, code: string): Promise<boolean> {
  try {
    await bench.enrol(code);
    return false;
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'conflict') return true;
    throw thrown;
  }
}

export const enrolment = area<string>(
  (bench) => createOwnDevice(bench, 'operations-enrolled'),
  [
    {
      operation: 'createEnrolmentCode',
      async run(bench, deviceID) {
        const { codeID } = await makeCode(bench, deviceID);
        await mustBe(bench, codeID, 'open');
        const ofOperator = { as: 'operator', body: { deviceID }, code: 'forbidden' } as const;
        await mustRefuse(bench, 'createEnrolmentCode', ofOperator);
      },
    },
    {
      operation: 'revokeEnrolmentCode',
      async run(bench, deviceID) {
        const { code, codeID } = await makeCode(bench, deviceID);
        await bench.call('revokeEnrolmentCode', { body: { codeID } });
        bench.changed('enrolmentcode.revoke', deviceID);
        await mustBe(bench, codeID, 'revoked');
        bench.look(await isOver(bench, code), 'a unit enrolled with a code that was revoked');
        await mustRefuse(bench, 'revokeEnrolmentCode', { body: { codeID }, code: 'conflict' });
      },
    },
    {
      operation: 'enrolDevice',
      async run(bench, deviceID) {
        const { code, codeID } = await makeCode(bench, deviceID);
        const enrolled = await bench.enrol(code);
        bench.changed('device.enrol', deviceID, 'device');
        bench.look(enrolled?.deviceID === deviceID, 'the answer to a unit does not open, or names another');
        if (enrolled === null) return;
        bench.secret(enrolled.secret);
        const connection = await bench.connect(enrolled);
        connection.close();
        bench.look(connection.isIn, 'a unit was not let in with the secret that it enrolled for');
        await mustBe(bench, codeID, 'used');
        bench.look(await isOver(bench, code), 'a second unit enrolled with a code that was used');
      },
    },
  ],
);
