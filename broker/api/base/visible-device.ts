// The device that an operation names, within the caller's scope.
import { AppError } from '../../../src/core/errors.ts';
import { type DeviceRow, findVisibleDevice } from '../../store/devices/devices.ts';
import type { ApiServices } from './api-services.ts';
import type { Caller } from './caller.ts';

/** The answer for a device that the caller does not see: the same whether there is one or not. */
export function unknownDevice(deviceID: string): AppError {
  return new AppError('not_found', `There is no device ${JSON.stringify(deviceID)}`);
}

/** @throws AppError `not_found`, with the same message for a device of another account or outside of the caller's groups. */
export async function needDevice(
  services: ApiServices,
  caller: Caller,
  deviceID: string,
): Promise<DeviceRow> {
  const row = await findVisibleDevice(services.db, caller.scope, deviceID);
  if (row === null) throw unknownDevice(deviceID);
  return row;
}
