// Request members shared by several operations (texts, time zones, passwords, lists of ids): schemas, and checks beyond
// them.
import { type TOptional, type TString, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { linePatternSource, textPatternSource } from '../../../src/core/ids.ts';
import { type Language, languages } from '../../../src/core/words/languages.ts';
import { passwordLeast, passwordMost, weaknessOf } from '../../core/accounts/password.ts';
import { mailboxOrNoneSource } from '../../core/notifications/delivery-targets.ts';
import type { DeviceRow } from '../../store/devices/devices.ts';

/** Time zone by its IANA name; whether there is one of that name is checked by `needTimeZone`. */
export const timeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA time zone, for example `America/Toronto`',
});

/** A language of the product. */
export const languageName = (description: string) =>
  Type.Enum(Object.keys(languages) as Language[], { description });

export const newPassword = Type.String({
  minLength: passwordLeast,
  maxLength: passwordMost,
  description: `${passwordLeast} to ${passwordMost} characters; what is tried first everywhere is refused`,
});

/** The calling user's own password again; `proofMember` of the operation keeps it out of stored requests. */
export const passwordAgain = Type.String({
  minLength: 1,
  maxLength: passwordMost,
  writeOnly: true,
  description: 'Password of the calling user, where the account wants it (`needsPassword`)',
});

/** A short text in one line, in any script: no control characters. */
export const lineText = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: linePatternSource, description });

/** A text of one or several lines, in any script: line breaks and tabs, but no other control characters. */
export const linesText = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: textPatternSource, description });

/** Bytes in base64url without padding, at least one (RFC 4648, section 5). */
export const base64urlText = (maxLength: number, description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_-]+$', minLength: 1, maxLength, description });

/** A text that users set of a device. */
interface DeviceText {
  /** Of the store. */
  readonly field: keyof DeviceRow;
  readonly sent: TString;
  readonly shown: TString;
  readonly example: string;
}

const deviceLine = <const Field extends keyof DeviceRow>(
  field: Field,
  description: string,
  maxLength = 128,
) => ({
  field,
  sent: lineText(maxLength, description),
  shown: Type.String({ description }),
  example: '',
});

const pinColor = Type.String({ pattern: '^[0-9A-Fa-f]{6}$', description: 'Hexadecimal colour without `#`' });

/** Texts of a device that the settings operation and an import change, and answers show. */
const deviceTexts = {
  deviceDisplayName: {
    ...deviceLine('displayName', 'Short name for lists and maps'),
    example: 'truck-17',
  },
  deviceType: deviceLine('type', 'Type of the unit', 64),
  deviceNotifyEmail: {
    field: 'notifyEmail',
    sent: Type.String({
      maxLength: 254,
      pattern: mailboxOrNoneSource,
      description: 'Notification e-mail, one mailbox that mail can reach; empty for none',
    }),
    shown: Type.String({ description: 'Notification e-mail; may be empty' }),
    example: '',
  },
  pinColor: { field: 'pinColor', sent: pinColor, shown: pinColor, example: '1f77b4' },
  pinTag: deviceLine('pinTag', 'Tag of the map pin', 64),
  additionalPinDisplay: deviceLine('additionalPinDisplay', 'Further text of the map pin'),
  equipmentTypeId: deviceLine('equipmentTypeID', 'Equipment template', 64),
  equipmentTypeDesc: deviceLine('equipmentTypeDesc', 'Name of the equipment template'),
} as const satisfies Readonly<Record<string, DeviceText>>;

type TextName = keyof typeof deviceTexts;
type TextField = (typeof deviceTexts)[TextName]['field'];
const textNames = Object.keys(deviceTexts) as readonly TextName[];

const ofTexts = <T>(valueOf: (text: DeviceText & { readonly field: TextField }) => T) =>
  Object.fromEntries(textNames.map((name) => [name, valueOf(deviceTexts[name])])) as Record<TextName, T>;

export const sentTexts: Readonly<Record<TextName, TOptional<TString>>> = ofTexts(({ sent }) =>
  Type.Optional(sent),
);
export const shownTexts: Readonly<Record<TextName, TString>> = ofTexts(({ shown }) => shown);
export const exampleTexts: Readonly<Record<TextName, string>> = ofTexts(({ example }) => example);

/** The texts of a row as answers name them. */
export function viewTexts(row: Pick<DeviceRow, TextField>): Readonly<Record<TextName, string>> {
  const texts = {} as Record<TextName, string>;
  for (const name of textNames) texts[name] = row[deviceTexts[name].field];
  return texts;
}

/** The fields of the store that were sent. */
export const sentFields = (
  sent: Readonly<Partial<Record<TextName, string>>>,
): Partial<Record<TextField, string>> =>
  Object.fromEntries(
    textNames.flatMap((name) => (sent[name] === undefined ? [] : [[deviceTexts[name].field, sent[name]]])),
  );

/** The refusal of one member; `message` goes on after its pointer. */
export function invalidAt(pointer: string, message: string, hint?: string): AppError {
  const details = [{ pointer, message }];
  return new AppError(
    'invalid_content',
    `${pointer} ${message}`,
    hint === undefined ? { details } : { details, hint },
  );
}

/** @throws AppError `invalid_content` when the platform knows no such time zone. */
export function needTimeZone(name: string | undefined): void {
  if (name === undefined) return;
  // An offset is a zone to some versions of the platform and none to others.
  if (!/^[A-Za-z]/.test(name)) throw invalidAt('/timeZone', 'is no IANA time zone');
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    throw invalidAt('/timeZone', 'is no IANA time zone');
  }
}

/** @throws AppError `invalid_content`; its message never quotes the password. */
export function needStrongPassword(
  password: string,
  owner: { readonly accountID: string; readonly userID: string },
  pointer = '/password',
): void {
  const weakness = weaknessOf(password, owner);
  if (weakness !== null) throw invalidAt(pointer, weakness);
}

/** @throws AppError `invalid_content` with a pointer to each item of a list that names nothing. */
export function needKnown(
  given: readonly string[],
  {
    unknown,
    member,
    what,
  }: { readonly unknown: readonly string[]; readonly member: string; readonly what: string },
): void {
  const details = given.flatMap((id, at) =>
    unknown.includes(id) ? [{ pointer: `/${member}/${at}`, message: `there is no such ${what}` }] : [],
  );
  const [first] = details;
  if (first === undefined) return;
  throw new AppError('invalid_content', `${first.pointer} ${first.message}`, {
    details: details.slice(0, 50),
  });
}
