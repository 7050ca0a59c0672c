// The error envelope: every failing answer is `{ error: {...} }` with the members of RFC 9457 and our own. The cause of an
// internal error never reaches a client; it is in the log under the request id.
import { AppError, type ErrorCode, errorKinds } from '../../../src/core/errors.ts';
import type { ErrorView } from './shapes.ts';

/** Failures that are the service's own: their messages may name files, hosts or statements. */
const hidden: readonly ErrorCode[] = ['internal', 'config', 'serial', 'port_in_use', 'usage'];

/** The client's view of anything that was thrown. Throttling and faults of the store say when to retry. */
export function publicError(thrown: unknown): AppError {
  if (!(thrown instanceof AppError) || hidden.includes(thrown.code)) {
    return new AppError('internal', 'The service failed; the failure is in its log under the request id', {
      hint: 'Try again later.',
    });
  }
  if (thrown.code === 'storage') {
    return new AppError('unavailable', 'The service cannot reach its data now', {
      hint: 'Try again later.',
      retryAfterS: 5,
    });
  }
  return thrown;
}

/** @param error already made fit for clients by `publicError`. */
export function viewError(
  error: AppError,
  request: { readonly path: string; readonly id: string },
): ErrorView {
  const { status, title } = errorKinds[error.code];
  return {
    error: {
      type: `urn:fleetward:error:${error.code}`,
      title,
      status,
      detail: error.message,
      instance: request.path,
      code: error.code,
      message: error.message,
      requestId: request.id,
      errors: error.details.map(({ pointer, message }) => ({ pointer, message })),
      hint: error.hint ?? null,
    },
  };
}
