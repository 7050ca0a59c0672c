// Next one-time code of a device, which restores its engine without a network. It cannot cut or unlock anything. It is shown once and appears in no
// log, no audit entry and no stored answer.
import { AppError } from '../../src/core/errors.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { createServiceCodes } from '../../src/service-codes.ts';
import { type DeviceKey } from '../core/device-key.ts';
import { numberOf, textOf } from '../store/base/row.ts';
import { allocateServiceNumber } from '../store/devices/service-codes.ts';

/**
 * Uses the next code of a device and records in the audit log, by the statement `audit`, that it was shown.
 * @throws AppError `conflict` when the device has no secret to make codes from.
 */
export async function showServiceCode(
  db: Database,
  { deviceNo, ...key }: DeviceKey & { readonly deviceNo: number },
  audit: Statement,
): Promise<{ readonly code: string; readonly number: number }> {
  const [, taken] = await db.write([audit, allocateServiceNumber(deviceNo)]);
  const row = taken?.rows[0];
  if (row === undefined) {
    throw new AppError(
      'conflict',
      `Device ${JSON.stringify(key.deviceID)} has no secret to make codes from`,
      {
        hint: 'Issue one, and put it into the unit.',
      },
    );
  }
  const number = numberOf(row, 'shown') - 1;
  return { code: createServiceCodes(textOf(row, 'secret_hash'), key).codeAt(number), number };
}
