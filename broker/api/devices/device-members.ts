// The members of a device that people set, with their schemas, and the writing of a batch that claims hardware ids. Shared
// by create, change, settings and import, so that all four know the same limits.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import type { Statement, WriteResult } from '../../../src/ports.ts';
import { isDataFault } from '../../ingest/store-faults.ts';
import { deviceRoom } from '../../store/device-limit.ts';
import type { DeviceFields, DeviceKey } from '../../store/devices.ts';
import { holderOfUniqueID } from '../../store/unique-ids.ts';
import type { ApiServices } from '../operation.ts';

/** Id of a device that may be new. */
export const newDeviceID = Type.String({
  pattern: idPatternSource,
  description: '1 to 64 of `A-Z a-z 0-9 _ -`',
});

/** Largest integer that JSON carries exactly everywhere; an IMEI has 15 digits. */
export const uniqueMost = Number.MAX_SAFE_INTEGER;

export const uniqueNumber = Type.Integer({
  minimum: 0,
  maximum: uniqueMost,
  description: 'Unique hardware identifier (IMEI or the like), unique within the account',
});

// A control character would break lists, files and the terminal of whoever looks at it.
const printable = '^[^\\u0000-\\u001f\\u007f]*$';
export const shortText = (description: string) => Type.String({ maxLength: 128, description });
const plainText = (description: string, maxLength = 128) =>
  Type.String({ maxLength, pattern: printable, description });

/** One address or none; what is beyond this is for the mail server to say. */
const emailPattern = '^([^\\s@,;<>"]{1,64}@[A-Za-z0-9.-]{1,253})?$';

/** Members of the settings operation, all optional. */
export const settingMembers = {
  deviceDisplayName: Type.Optional(plainText('Short name for lists and maps')),
  deviceType: Type.Optional(plainText('Type of the unit', 64)),
  deviceNotifyEmail: Type.Optional(
    Type.String({
      maxLength: 254,
      pattern: emailPattern,
      description: 'Notification e-mail, one address; empty for none',
    }),
  ),
  pinColor: Type.Optional(
    Type.String({ pattern: '^[0-9A-Fa-f]{6}$', description: 'Hexadecimal colour without `#`' }),
  ),
  pinTag: Type.Optional(plainText('Tag of the map pin', 64)),
  additionalPinDisplay: Type.Optional(plainText('Further text of the map pin')),
  equipmentTypeId: Type.Optional(plainText('Equipment template', 64)),
  equipmentTypeDesc: Type.Optional(plainText('Name of the equipment template')),
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
  return given({
    displayName: settings.deviceDisplayName,
    type: settings.deviceType,
    notifyEmail: settings.deviceNotifyEmail,
    pinColor: settings.pinColor,
    pinTag: settings.pinTag,
    additionalPinDisplay: settings.additionalPinDisplay,
    equipmentTypeID: settings.equipmentTypeId,
    equipmentTypeDesc: settings.equipmentTypeDesc,
    maxPassengers: settings.maxPassengers,
  });
}

/** What the audit log tells of a change: which members, not the names and numbers of people in them. */
export const told = (fields: DeviceFields) => ({ members: Object.keys(fields) });

/** What a device gets whose creator says nothing. */
export const generatedFields = (deviceID: string): DeviceFields => ({
  description: `Device ${deviceID}`,
  displayName: deviceID,
});

export interface DeviceWish {
  readonly key: DeviceKey;
  readonly fields: DeviceFields;
}

async function checkUnique(services: ApiServices, { key, fields }: DeviceWish): Promise<void> {
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

/** Writes what names a uniqueid. Of two calls at once that claim one number the later is told so, as if it had come later. */
export async function writeUnique(
  services: ApiServices,
  wish: DeviceWish,
  batch: readonly Statement[],
): Promise<readonly WriteResult[]> {
  await checkUnique(services, wish);
  try {
    return await services.db.write(batch);
  } catch (thrown) {
    if (isDataFault(thrown)) await checkUnique(services, wish);
    throw thrown;
  }
}

/** The error of an account that has as many devices as it may have. */
export async function fullAccount(services: ApiServices, accountID: string): Promise<AppError> {
  const room = await deviceRoom(services.db, accountID);
  const words = room === null ? 'has no room' : `has ${room.count} of at most ${room.limit} devices`;
  return new AppError('conflict', `the account ${words}`, {
    hint: 'Delete devices that are no longer used, or ask the operator of the service for more.',
  });
}
