// Password rules and the interface of the hash. Pure; an adapter computes the hash. A password is never stored, logged or
// quoted.

/** Longest password in characters; a limit on work, not on strength. */
export const passwordMost = 256;
/** Shortest password that may be set (NIST SP 800-63B asks for 8; there is no second factor here). */
export const passwordLeast = 12;

export interface Passwords {
  /** A new hash in PHC form. Rejects with AppError `throttled` when too many are waiting. */
  hash(password: string): Promise<string>;
  /**
   * @param known null for an unknown user: takes as long and returns false.
   * @param asker for whom; absent: the service itself.
   * Rejects with AppError `throttled` when too many are waiting.
   */
  verify(known: string | null, password: string, asker?: PasswordAsker): Promise<boolean>;
}

/** Askers of one lane take turns by key; the lanes take turns too, so that logins keep no user who is logged in waiting. */
export interface PasswordAsker {
  readonly lane: 'login' | 'session' | 'service';
  /** Source network of a login; user of a session. */
  readonly key: string;
}

/**
 * Words that head every list of breached passwords. A password is refused when nothing but such words, digits and
 * signs is in it: `Password2024!`, `qwertyqwerty1`.
 */
const obviousWords = [
  'password',
  'passwort',
  'passw',
  'pass',
  'qwertyuiop',
  'qwerty',
  'qwertz',
  'azerty',
  'asdfghjkl',
  'asdf',
  'zxcvbnm',
  'admin',
  'administrator',
  'root',
  'user',
  'guest',
  'test',
  'welcome',
  'letmein',
  'changeme',
  'default',
  'secret',
  'login',
  'iloveyou',
  'monkey',
  'dragon',
  'master',
  'sunshine',
  'princess',
  'football',
  'baseball',
  'superman',
  'fleetward',
  'fleet',
  'truck',
  'tracker',
  'abc',
] as const;

const obviousOnly = new RegExp(`^(?:${obviousWords.join('|')}|\\P{L})+$`, 'u');

/** Letters for the digits and signs that people write in their place. */
const plainLetters: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Different characters that a password must have. */
const differentLeast = 5;

/** Characters that a password must have beside the names of its account and user. */
const besideNamesLeast = 8;

const toPlain = (text: string): string => text.replace(/[013457@$!]/g, (sign) => plainLetters[sign] ?? sign);

/** As it stands, with letters for signs, and so without the digits and signs around it. */
function isObvious(lower: string): boolean {
  const inner = lower.replace(/^\P{L}+|\P{L}+$/gu, '');
  return [lower, toPlain(lower), toPlain(inner)].some((text) => obviousOnly.test(text));
}

/** Why a password may not be set, or null. The text never quotes it. */
export function weaknessOf(
  password: string,
  owner: { readonly accountID: string; readonly userID: string },
): string | null {
  if (password.length < passwordLeast || password.length > passwordMost) {
    return `must have ${passwordLeast} to ${passwordMost} characters`;
  }
  const lower = password.toLowerCase();
  if (new Set(lower).size < differentLeast)
    return `must have at least ${differentLeast} different characters`;
  if (isObvious(lower)) return 'is one of those that are tried first: nothing but obvious words and digits';
  const rest = [owner.accountID, owner.userID].reduce(
    (text, name) => text.replaceAll(name.toLowerCase(), ''),
    lower,
  );
  return rest.length < besideNamesLeast ? 'is little more than the name of the account or of the user' : null;
}
