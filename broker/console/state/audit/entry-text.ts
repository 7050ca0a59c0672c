// Entries of the audit log as their screens write them. Pure.

/** Digits of a hash that are shown; the whole hash is the title. */
const hashDigits = 8;

/** Place in the chain and the first digits of the hash. @param hash null: it is not sealed yet. */
export const chainText = (chainNumber: number | null, hash: string | null): string =>
  `${chainNumber} ${(hash ?? '').slice(0, hashDigits)}`;

/** Changes as the service names them: each member with its value. */
export const detailTexts = (detail: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(detail).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
