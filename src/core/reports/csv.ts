// A table as CSV (RFC 4180): lines end in CR LF, and what a spreadsheet would take for a formula is text. Pure.

/** Spreadsheets of languages with a decimal comma expect a semicolon. */
export const csvSeparators = { comma: ',', semicolon: ';', tab: '\t' } as const;
export type CsvSeparator = keyof typeof csvSeparators;

/** Names the encoding of a file: without it spreadsheets misread every letter but the English ones. */
export const byteOrderMark = '\ufeff';

/**
 * A text cell: quoted for any separator, as spreadsheets guess it, and never a formula (OWASP: a quote before = + - @, tab,
 * return, line feed).
 */
export function csvText(text: string): string {
  const safe = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csvCell = (value: number | string | null): string =>
  value === null ? '' : typeof value === 'number' ? String(value) : csvText(value);

/** @param lines the first one names the columns; numbers have a decimal point, null is an empty cell. */
export const csvOf = (
  lines: readonly (readonly (number | string | null)[])[],
  separator: CsvSeparator = 'comma',
): string => lines.map((cells) => `${cells.map(csvCell).join(csvSeparators[separator])}\r\n`).join('');
