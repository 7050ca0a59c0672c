// A table as CSV (RFC 4180), as the service writes it: lines end in CR LF, and what a spreadsheet would take for a formula is text. Pure.

function csvText(text: string): string {
  const safe = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const csvCell = (value: number | string | null): string =>
  value === null ? '' : typeof value === 'number' ? String(value) : csvText(value);

/** @param lines the first one names the columns; numbers have a decimal point, null is an empty cell. */
export const csvOf = (lines: readonly (readonly (number | string | null)[])[]): string =>
  lines.map((cells) => `${cells.map(csvCell).join()}\r\n`).join('');
