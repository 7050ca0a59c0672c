// Members of a device that users set: schemas, and the write of a batch that claims hardware ids. Shared by create, change,
// settings and import, so that all four have the same limits.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import type { Statement, WriteResult } from '../../../src/ports.ts';
import { type DeviceKey } from '../../core/device-key.ts';
import { isDataFault } from '../../core/store-faults.ts';
import { freeDevices } from '../../store/devices/device-limit.ts';
import type { DeviceFields } from '../../store/devices/devices.ts';
import { holderOfUniqueID } from '../../store/devices/unique-ids.ts';
import type { ApiServices } from '../base/api-services.ts';
import { invalidAt, linesText, lineText, sentFields, sentTexts } from '../base/input-members.ts';

/** Id of a device that may be new. */
export const newDeviceID = Type.String({
  pattern: idPatternSource,
  description: '1 to 64 of `A-Z a-z 0-9 _ -`',
});

/** Largest integer that JSON carries exactly everywhere; an IMEI has 15 digits. */
const uniqueMost = Number.MAX_SAFE_INTEGER;

const uniqueDescription = 'Unique hardware identifier (IMEI or the like), unique within the account';

/** The hardware id as a number; what a cell of a file is made into. */
export const uniqueNumber = Type.Integer({ minimum: 0, maximum: uniqueMost, description: uniqueDescription });

/** The same, or the text of `deviceUnique` as answers give it. One keyword each: a fault is then one fault at one place. */
export const uniqueValue = Type.Unsafe<number | string>({
  type: ['integer', 'string'],
  minimum: 0,
  maximum: uniqueMost,
  pattern: '^[0-9]{0,16}$',
  description: `${uniqueDescription}; or the same as decimal text, empty for none`,
});

/**
 * The hardware id for the store: decimal text without leading zeros, so that a number and its text are one id; empty for none.
 * @throws AppError `invalid_content` for a text beyond `uniqueMost`.
 */
export function uniqueTextOf(sent: number | string | undefined): string | undefined {
  if (sent === undefined || sent === '') return sent;
  const value = Number(sent);
  if (value <= uniqueMost) return String(value);
  const message = `must be at most ${uniqueMost}`;
  throw invalidAt('/uniqueid', message);
}

export const shortText = (description: string, maxLength = 128) => lineText(maxLength, description);
export const descriptionText = linesText(128, 'Description');

/** Members of the settings operation, all optional. */
export const settingMembers = {
  ...sentTexts,
  maxPassengers: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, description: 'Seats; what passengercount compares with' }),
  ),
} as const;

const settingsShape = Type.Object(settingMembers);
export type Settings = Static<typeof settingsShape>;

/** Only the members that were sent. */
export const given = (
  fields: {
    readonly [Name in keyof DeviceFields]: DeviceFields[Name] | undefined;
  },
): DeviceFields => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** The fields of the store that settings stand for. */
export function fieldsOf(settings: Settings): DeviceFields {
  return { ...sentFields(settings), ...given({ maxPassengers: settings.maxPassengers }) };
}

/** Audit detail of a change: its members, without names and numbers of people. */
export const changedMembers = (fields: DeviceFields) => ({ members: Object.keys(fields) });

/** Fields of a device created without any. */
export const generatedFields = (deviceID: string): DeviceFields => ({
  description: `Device ${deviceID}`,
  displayName: deviceID,
});

export interface DeviceChange {
  readonly key: DeviceKey;
  readonly fields: DeviceFields;
}

async function checkUnique(services: ApiServices, { key, fields }: DeviceChange): Promise<void> {
  const holder = await holderOfUniqueID(services.db, {
    accountID: key.accountID,
    uniqueID: fields.uniqueID ?? '',
  });
  if (holder === null || holder === key.deviceID) return;
  throw new AppError('conflict', `uniqueid ${fields.uniqueID} belongs to another device`, {
    details: [{ pointer: '/uniqueid', message: 'belongs to another device' }],
    hint: 'Give the device that has it another one first.',
  });
}

/** Writes a change that may name a uniqueid. Of two concurrent claims of one number the second fails as a conflict. */
export async function writeUnique(
  services: ApiServices,
  change: DeviceChange,
  batch: readonly Statement[],
): Promise<readonly WriteResult[]> {
  await checkUnique(services, change);
  try {
    return await services.db.write(batch);
  } catch (thrown) {
    if (isDataFault(thrown)) await checkUnique(services, change);
    throw thrown;
  }
}

/** The error of an account that has as many devices as it may have. */
export async function fullAccount(services: ApiServices, accountID: string): Promise<AppError> {
  const room = await freeDevices(services.db, accountID);
  const fault = room === null ? 'is at its limit' : `has ${room.count} of at most ${room.limit} devices`;
  return new AppError('conflict', `The account ${fault}`, {
    hint: 'Delete devices that are no longer used, or ask the operator of the service for more.',
  });
}
