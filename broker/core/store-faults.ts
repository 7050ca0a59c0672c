// Classifies the fault of a write: the rows cannot be stored, another writer was faster, the outcome is unknown, or the store is
// down. A fault of the store must never count as one of the data: data would be given up instead of retried.
import { AppError, causeCodeOf, codeOf, unknownOutcome } from '../../src/core/errors.ts';

/**
 * True when the rows themselves cannot be stored, whatever the state of the store: SQLite's constraint and type faults,
 * SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation).
 */
export function isDataFault(error: unknown): boolean {
  const code = codeOf(error instanceof AppError ? error.cause : error);
  return /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)|2[23][0-9A-Z]{3}$)/.test(code);
}

/** True when a statement did not change the rows that it must: the state that the batch was planned on is stale. */
export function isConflict(error: unknown): boolean {
  return causeCodeOf(error) === 'CONFLICT';
}

/**
 * True when the outcome of a batch is unknown (a commit that the server never answered): it must not be written again before
 * it was looked up.
 */
export function isUnknown(error: unknown): boolean {
  return causeCodeOf(error) === unknownOutcome;
}

/** True when the rows are not at fault: the write may be retried. A conflict is of this kind too. */
export function isStoreFault(error: unknown): boolean {
  const isOfStore = error instanceof AppError && (error.code === 'storage' || error.code === 'unavailable');
  return isOfStore && !isDataFault(error);
}
