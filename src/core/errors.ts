// The one error class and the one table of its codes. A message says what failed, where and why, and `hint` what
// to do about it. HTTP statuses are those of the service interface; exit codes follow sysexits.h.

interface ErrorKind {
  /** HTTP status code of the service interface (400 401 404 405 406 422 500 503). */
  readonly status: 400 | 401 | 404 | 405 | 406 | 422 | 500 | 503;
  readonly title: string;
  /** Exit code of a program that ends because of it. */
  readonly exitCode: number;
}

export const errorKinds = {
  malformed_json: { status: 400, title: 'The body is not JSON', exitCode: 65 },
  malformed_request: { status: 400, title: 'The request is malformed', exitCode: 65 },
  unauthorized: { status: 401, title: 'The token is missing or wrong', exitCode: 77 },
  login_failed: { status: 401, title: 'Account, user or password is wrong', exitCode: 77 },
  passkey_needed: { status: 401, title: 'This user logs in with a passkey', exitCode: 77 },
  code_needed: { status: 401, title: 'This user logs in with a one-time code', exitCode: 77 },
  not_found: { status: 404, title: 'There is no such object', exitCode: 66 },
  method_not_allowed: { status: 405, title: 'The method is invalid for this path', exitCode: 64 },
  not_acceptable: { status: 406, title: 'Only JSON is supported', exitCode: 64 },
  invalid_content: { status: 422, title: 'The content of the request is invalid', exitCode: 65 },
  conflict: { status: 422, title: 'The request conflicts with what is there', exitCode: 65 },
  forbidden: { status: 422, title: 'Your role or token does not allow this', exitCode: 77 },
  password_needed: { status: 422, title: 'This needs the password again', exitCode: 77 },
  password_wrong: { status: 422, title: 'The password is wrong', exitCode: 77 },
  unsupported: { status: 422, title: 'This device cannot do that', exitCode: 69 },
  throttled: { status: 503, title: 'Too many requests', exitCode: 75 },
  unavailable: { status: 503, title: 'The service cannot do this now', exitCode: 75 },
  internal: { status: 500, title: 'Internal error', exitCode: 70 },
  usage: { status: 400, title: 'The command line is wrong', exitCode: 64 },
  config: { status: 500, title: 'The configuration is wrong', exitCode: 78 },
  serial: { status: 500, title: 'The serial port does not work', exitCode: 69 },
  storage: { status: 503, title: 'The storage does not work', exitCode: 74 },
  port_in_use: { status: 500, title: 'The port is taken', exitCode: 69 },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

/** True when another process's text names an error of ours. */
export const isErrorCode = (code: string | undefined): code is ErrorCode =>
  code !== undefined && Object.hasOwn(errorKinds, code);

/** One fault inside a larger input: `pointer` is a JSON pointer (RFC 6901) into it. */
export interface ErrorDetail {
  readonly pointer: string;
  readonly message: string;
}

export interface ErrorExtras {
  readonly hint?: string;
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterS?: number;
  readonly cause?: unknown;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: readonly ErrorDetail[];
  readonly retryAfterS: number | undefined;

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = 'AppError';
    this.code = code;
    this.hint = extras.hint;
    this.details = extras.details ?? [];
    this.retryAfterS = extras.retryAfterS;
  }
}

/** The message of anything that was thrown, also of what a thread or process has copied and is no Error any more. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  return 'message' in thrown ? String(thrown.message) : JSON.stringify(thrown);
}

/** The remedy that a fault brings along; undefined when it has none. */
export const hintFrom = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'hint' in thrown && typeof thrown.hint === 'string' ? thrown.hint : undefined;

/** Code of a cause when it is unknown whether a batch was stored. */
export const unknownOutcome = 'UNKNOWN_OUTCOME';

/** Code of the cause when a database file has left its path: commits to it are lost with the process. */
export const filesGoneCode = 'FILES_GONE';

/** The code of what an AppError wraps; '' when it wraps nothing, has none, or is no AppError. */
export function causeCodeOf(thrown: unknown): string {
  return thrown instanceof AppError ? codeOf(thrown.cause) : '';
}

/** The code that Node, a database or a server gave to a fault, as text; '' when it has none. */
export function codeOf(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return '';
  return typeof thrown.code === 'string' || typeof thrown.code === 'number' ? String(thrown.code) : '';
}
