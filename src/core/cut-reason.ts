// The reason of a cut as the ledger keeps it: a code that every language can show, and a note. Pure.

export const cutReasonCodes = [
  'stolen',
  'misuse',
  'lease_ended',
  'unsafe',
  'driver',
  'test',
  'other',
] as const;
export type CutReason = (typeof cutReasonCodes)[number];

export function reasonText(reason: CutReason, note: string): string {
  const trimmed = note.trim();
  return trimmed === '' ? reason : `${reason}: ${trimmed}`;
}

/** @returns the code, null where the text has none of ours (another client wrote it), and the rest. */
export function parseReason(text: string): { readonly reason: CutReason | null; readonly note: string } {
  const at = text.indexOf(':');
  const head = at < 0 ? text : text.slice(0, at);
  const reason = cutReasonCodes.find((one) => one === head) ?? null;
  if (reason === null) return { reason, note: text };
  return { reason, note: at < 0 ? '' : text.slice(at + 1).trim() };
}
