// Request members shared by several operations (texts, time zones, passwords, lists of ids): schemas, and checks beyond
// them.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { linePatternSource, textPatternSource } from '../../../src/core/ids.ts';
import { passwordLeast, passwordMost, weaknessOf } from '../../core/accounts/password.ts';

/** Time zone by its IANA name; whether there is one of that name is checked by `needTimeZone`. */
export const timeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA time zone, for example `America/Toronto`',
});

export const newPassword = Type.String({
  minLength: passwordLeast,
  maxLength: passwordMost,
  description: `${passwordLeast} to ${passwordMost} characters; what is tried first everywhere is refused`,
});

/** The calling user's own password once more; `proofMember` of the operation keeps it out of what is remembered. */
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

function invalid(pointer: string, message: string): AppError {
  return new AppError('invalid_content', `${pointer} ${message}`, { details: [{ pointer, message }] });
}

/** @throws AppError `invalid_content` when the platform knows no such time zone. */
export function needTimeZone(name: string | undefined): void {
  if (name === undefined) return;
  // An offset is a zone to some versions of the platform and none to others.
  if (!/^[A-Za-z]/.test(name)) throw invalid('/timeZone', 'is no IANA time zone');
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
  } catch {
    throw invalid('/timeZone', 'is no IANA time zone');
  }
}

/** @throws AppError `invalid_content`; its message never quotes the password. */
export function needStrongPassword(
  password: string,
  owner: { readonly accountID: string; readonly userID: string },
  pointer = '/password',
): void {
  const weakness = weaknessOf(password, owner);
  if (weakness !== null) throw invalid(pointer, weakness);
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
