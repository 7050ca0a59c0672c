// One-time codes that restore an engine where there is no network (edge-agents 2.3 rule 4). The broker shows a code to an
// operator, a person at the vehicle enters it. Pure: what the codes are is given as a function of a counter (RFC 4226).
// A code can only ever restore the engine, works once, and five wrong ones lock the entry for an hour, also over restarts.
import { statusCodes } from '../../../src/core/status-codes.ts';
import type { EventDraft, ServiceRecord } from './command-record.ts';

/** The codes of this vehicle. The key behind them never comes into the core. */
export interface ServiceCodes {
  /** Names the key, and says nothing about it; with another key all counting starts anew. */
  readonly keyID: string;
  /** The code of a counter, 8 decimal digits. */
  codeAt(counter: number): string;
}

export const serviceLimits = {
  digits: 8,
  /** How many codes may have been shown and not entered. Of 10^8 codes that leaves 1 in 200,000 for five guesses. */
  window: 100,
  wrongMost: 5,
  lockMs: 3_600_000,
} as const;

/** Where a code was entered. */
export type ServiceWay = 'input' | 'socket';

export interface ServiceTry {
  readonly record: ServiceRecord;
  readonly isRight: boolean;
  /** For the person who entered it. */
  readonly words: string;
  /** Every try is told. */
  readonly draft: EventDraft;
}

/** The record as it counts for this key. */
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

/** The counter of a code that may still be used; null for any other. Every code of the window is looked at, right or wrong. */
function findCounter(codes: ServiceCodes, from: number, code: string): number | null {
  let found: number | null = null;
  for (let counter = from; counter < from + serviceLimits.window; counter += 1)
    if (codes.codeAt(counter) === code) found ??= counter;
  return found;
}

/** Judges one entered code; spaces and hyphens between the digits are as people write them. */
export function tryServiceCode(
  before: ServiceRecord,
  codes: ServiceCodes,
  entry: { readonly code: string; readonly way: ServiceWay },
): ServiceTry {
  const code = entry.code.replace(/[\s-]/g, '');
  const told = (isRight: boolean, reason: string): EventDraft => ({
    statusCode: statusCodes[isRight ? 'SERVICE_CODE_RIGHT' : 'SERVICE_CODE_WRONG'].code,
    attributes: { way: entry.way, reason },
  });
  const refuse = (record: ServiceRecord, words: string): ServiceTry => ({
    record,
    isRight: false,
    words,
    draft: told(false, words),
  });
  if (before.isLocked) return refuse(before, 'locked for an hour after five wrong codes');
  const counter = findCounter(codes, before.counter, code);
  if (counter !== null) {
    const words = `code ${counter} restores the engine`;
    const record = { ...before, counter: counter + 1, wrong: 0 };
    return { record, isRight: true, words, draft: told(true, words) };
  }
  const wrong = before.wrong + 1;
  if (wrong < serviceLimits.wrongMost)
    return refuse(
      { ...before, wrong },
      `not a code that can be used; ${serviceLimits.wrongMost - wrong} tries left`,
    );
  return refuse({ ...before, wrong: 0, isLocked: true }, 'the fifth wrong code: locked for an hour');
}
