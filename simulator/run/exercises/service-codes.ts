// Service codes at the unit: its own works once, and neither a guess nor the code of another vehicle works.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { createFindings, type Exercise, post, readHistory } from './exercise.ts';

interface Code {
  readonly code: string;
}

const { SERVICE_CODE_RIGHT: right, SERVICE_CODE_WRONG: wrong } = statusCodes;

/** Another code of the same shape. */
const otherCode = (code: string): string => `${code.startsWith('0') ? '1' : '0'}${code.slice(1)}`;

export const exerciseServiceCodes: Exercise = async (context) => {
  const { access, workers, vehicles, changes, secrets } = context;
  const { service, target } = access;
  const { look, outcome } = createFindings('serviceCodesWrong');
  // Not those that other exercises work with, where there are others.
  const [device, other] = [vehicles.at(-1), vehicles.at(-2)];
  const deviceID = device?.deviceID ?? '';
  const { code } = await post<Code>(service, '/device/servicecode', { deviceID });
  secrets.push(code);
  changes.push({ userID: target.login.userID, action: 'device.servicecode', object: deviceID });
  const entries = [
    { deviceID, code: otherCode(code), isRight: false },
    { deviceID, code, isRight: true },
    { deviceID, code, isRight: false },
    ...(other === undefined ? [] : [{ deviceID: other.deviceID, code, isRight: false }]),
  ];
  for (const { deviceID: at, code: entered } of entries)
    workers.instruct({ kind: 'crew', deviceID: at, act: { kind: 'enter', code: entered } });
  return async ({ ledger }) => {
    for (const id of new Set(entries.map((entry) => entry.deviceID))) {
      const expected = entries.filter((entry) => entry.deviceID === id).map(({ isRight }) => isRight);
      const taken = ledger.vehicles.get(id)?.crew.entered ?? [];
      const isSame = taken.length === expected.length && taken.every((one, at) => one === expected[at]);
      look(id, isSame ? null : `codes were taken ${taken.join(', ')} instead of ${expected.join(', ')}`);
      const records = await readHistory(service, id);
      for (const [{ code: statusCode, text }, isRight] of [
        [right, true],
        [wrong, false],
      ] as const) {
        const shown = records.filter((record) => record.statusCode === statusCode).length;
        const wanted = expected.filter((one) => one === isRight).length;
        look(id, shown === wanted ? null : `${text} stands in its history ${shown} times, not ${wanted}`);
      }
    }
    return outcome();
  };
};
