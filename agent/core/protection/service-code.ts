// One-time codes that restore an engine without a network (edge-agents 2.3 rule 4). The broker shows a code to an operator, and a person at the
// vehicle enters it. Pure: the codes are a function of a counter (RFC 4226). A code can only restore the engine and works once. Five wrong codes lock
// the entry for an hour, also over restarts.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { EventDraft, ServiceRecord } from './command-record.ts';

/** Codes of this vehicle. Their key never reaches the core. */
export interface ServiceCodes {
  /** Identifies the key without revealing it. Another key restarts the counter. */
  readonly keyID: string;
  /** Code of a counter, 8 decimal digits. */
  codeAt(counter: number): string;
}

export const serviceLimits = {
  digits: 8,
  /** Maximum number of codes shown and not yet entered. Five guesses among 10^8 codes then succeed with a chance of 1 in 200,000. */
  window: 100,
  wrongMost: 5,
  lockMs: 3_600_000,
} as const;

export type ServiceEntryPoint = 'input' | 'socket';

export interface ServiceTry {
  readonly record: ServiceRecord;
  readonly isRight: boolean;
  /** Message shown at the vehicle. */
  readonly words: string;
  /** Every try is reported. */
  readonly draft: EventDraft;
}

/** The record for this key. Another key restarts the counter and keeps the lock. */
export function serviceRecordFor(
  record: ServiceRecord | undefined,
  codes: Pick<ServiceCodes, 'keyID'>,
): ServiceRecord {
  const isSame = record?.keyID === codes.keyID;
  const counter = isSame ? record.counter : 0;
  // A new key must not open the lock.
  return {
    keyID: codes.keyID,
    counter,
    wrong: record?.wrong ?? 0,
    isLocked: record?.isLocked ?? false,
  };
}

/** Counter of a code that may still be used; null for any other code. It compares every code of the window, for constant time. */
function findCounter(codes: ServiceCodes, from: number, code: string): number | null {
  let found: number | null = null;
  for (let counter = from; counter < from + serviceLimits.window; counter += 1)
    if (codes.codeAt(counter) === code) found ??= counter;
  return found;
}

/** Checks one entered code. Spaces and hyphens are ignored. */
export function tryServiceCode(
  before: ServiceRecord,
  codes: ServiceCodes,
  entry: { readonly code: string; readonly way: ServiceEntryPoint },
): ServiceTry {
  const code = entry.code.replace(/[\s-]/g, '');
  const eventOf = (isRight: boolean, reason: string): EventDraft => ({
    statusCode: statusCodes[isRight ? 'SERVICE_CODE_RIGHT' : 'SERVICE_CODE_WRONG'].code,
    attributes: { way: entry.way, reason },
  });
  const refuse = (record: ServiceRecord, words: string): ServiceTry => ({
    record,
    isRight: false,
    words,
    draft: eventOf(false, words),
  });
  if (before.isLocked) return refuse(before, 'locked for an hour after five wrong codes');
  const counter = findCounter(codes, before.counter, code);
  if (counter !== null) {
    const words = `code ${counter} restores the engine`;
    const record = { ...before, counter: counter + 1, wrong: 0 };
    return { record, isRight: true, words, draft: eventOf(true, words) };
  }
  const wrong = before.wrong + 1;
  if (wrong < serviceLimits.wrongMost)
    return refuse({ ...before, wrong }, `wrong or used code; ${serviceLimits.wrongMost - wrong} tries left`);
  return refuse({ ...before, wrong: 0, isLocked: true }, 'the fifth wrong code: locked for an hour');
}
