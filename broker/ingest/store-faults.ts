// What the fault of a write means: that the rows cannot be stored, that somebody else was faster, that nobody knows, or that
// the store itself is down. It must never call a fault of the store one of the data: that would be given up and not tried again.
import { AppError, causeCodeOf, codeOf, unknownOutcome } from '../../src/core/errors.ts';

/**
 * True when the rows themselves cannot be stored, whatever the state of the store: SQLite's constraint and type faults,
 * SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation).
 */
export function isDataFault(error: unknown): boolean {
  const code = codeOf(error instanceof AppError ? error.cause : error);
  return /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)|2[23][0-9A-Z]{3}$)/.test(code);
}

/** True when a statement did not change the rows that it must: what the batch went out from no longer holds. */
export function isConflict(error: unknown): boolean {
  return causeCodeOf(error) === 'CONFLICT';
}

/**
 * True when nobody knows whether a batch was stored (a commit that a server never answered): what it holds must not be
 * written once more by anybody who cannot look first.
 */
export function isUnknown(error: unknown): boolean {
  return causeCodeOf(error) === unknownOutcome;
}

/** True when what was to be written is not to blame: the same may be tried again. A conflict is of this kind too. */
export function isStoreFault(error: unknown): boolean {
  const isOfStore = error instanceof AppError && (error.code === 'storage' || error.code === 'unavailable');
  return isOfStore && !isDataFault(error);
}
