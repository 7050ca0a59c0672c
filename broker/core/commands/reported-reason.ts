// Texts from vehicles, made storable, and the choice between them. A vehicle may be foreign, broken or hostile.

import type { Verdict } from '../../../src/core/verdict/verdict.ts';
import { verdictText } from '../../../src/core/verdict/verdict-text.ts';

/** Characters of a reason that is kept. */
const reasonMost = 500;

/** A sent text of at most `most` characters; '' for what is no text. PostgreSQL stores no U+0000: spaces stand for it. */
export function storableText(value: unknown, most = reasonMost): string {
  return typeof value === 'string' ? value.slice(0, most).replaceAll('\0', ' ') : '';
}

/** Why a command waits or how it ended: the vehicle's own text, else that of its verdict; '' when it sent neither. */
export function reasonText(report: { readonly detail: string; readonly verdict: Verdict | null }): string {
  const { detail, verdict } = report;
  return detail === '' && verdict !== null ? verdictText(verdict) : detail;
}
