// One-time codes that restore an engine where there is no network (edge-agents 2.3 rule 4). The broker shows a code
// to an operator, a person at the vehicle enters it. Pure: the codes are given as a function of a counter (RFC 4226).
// A code can only restore the engine, works once, and five wrong ones lock the entry for an hour, also over restarts.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { EventDraft, ServiceRecord } from './command-record.ts';

/** The codes of this vehicle. The key behind them never reaches the core. */
export interface ServiceCodes {
  /** Identifies the key without revealing it; with another key all counting restarts. */
  readonly keyID: string;
  /** The code of a counter, 8 decimal digits. */
  codeAt(counter: number): string;
}

export const serviceLimits = {
  digits: 8,
  /** Most codes shown and not yet entered. Of 10^8 codes that leaves 1 in 200,000 for five guesses. */
  window: 100,
  wrongMost: 5,
  lockMs: 3_600_000,
} as const;

/** Where a code was entered. */
export type ServiceEntryPoint = 'input' | 'socket';

export interface ServiceTry {
  readonly record: ServiceRecord;
  readonly isRight: boolean;
  /** Message shown at the vehicle. */
  readonly words: string;
  /** Every try is reported. */
  readonly draft: EventDraft;
}

/** The record for this key; a changed key restarts the counter and keeps the lock. */
export function serviceRecordFor(
  record: ServiceRecord | undefined,
  codes: Pick<ServiceCodes, 'keyID'>,
): ServiceRecord {
  const isSame = record?.keyID === codes.keyID;
  const counter = isSame ? record.counter : 0;
  // A new key is no way around the lock.
  return {
    keyID: codes.keyID,
    counter,
    wrong: record?.wrong ?? 0,
    isLocked: record?.isLocked ?? false,
  };
}

/**
 * The counter of a code that may still be used; null for any other. Every code of the window is compared, for
 * constant time.
 */
function findCounter(codes: ServiceCodes, from: number, code: string): number | null {
  let found: number | null = null;
  for (let counter = from; counter < from + serviceLimits.window; counter += 1)
    if (codes.codeAt(counter) === code) found ??= counter;
  return found;
}

/** Checks one entered code; spaces and hyphens between the digits are ignored. */
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
