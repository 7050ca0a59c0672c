// What a password must be, and what checks it. Pure; the work is done by an adapter. A password is never stored,
// logged or quoted, and nothing here ever holds one.

/** Longest password in characters; a limit on work, not on strength. */
export const passwordMost = 256;
/** Shortest password that may be set (NIST SP 800-63B asks for 8; there is no second factor here). */
export const passwordLeast = 12;

export interface Passwords {
  /** A new hash in PHC form. Rejects with AppError `throttled` when too many are waiting. */
  hash(password: string): Promise<string>;
  /**
   * @param known null for a user who does not exist: takes as long and gives false.
   * Rejects with AppError `throttled` when too many are waiting.
   */
  verify(known: string | null, password: string): Promise<boolean>;
}
