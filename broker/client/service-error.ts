// A call that failed, as data: code, texts and request id are those of the service.

/** A member of the request that is not accepted. */
interface MemberFault {
  /** JSON pointer into the body, or `/name` of a parameter. */
  readonly pointer: string;
  readonly message: string;
}

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly hint: string | null;
  readonly requestId?: string | null;
  readonly errors?: readonly MemberFault[];
}

/** `code` is the service's, see its guide; `unreachable` without an answer. The message says what is wrong, `hint` what to do. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: string;
  readonly hint: string | null;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** Seconds to wait before the next try; null when the service names none. */
  readonly retryAfterS: number | null;
  /** Names the request in the log of the service; null without an answer of it. */
  readonly requestId: string | null;
  readonly errors: readonly MemberFault[];
  /** A change that was sent, and whose answer does not say that nothing was done: it may still be carried out. */
  mayHaveActed = false;
  constructor(
    { code, detail, hint, requestId = null, errors = [] }: Problem,
    status: number,
    retryAfterS: number | null = null,
  ) {
    super(detail);
    this.code = code;
    this.hint = hint;
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.requestId = requestId;
    this.errors = errors;
  }
}

export const unreachable = (cause: unknown): ServiceError =>
  new ServiceError({ code: 'unreachable', detail: String(cause), hint: null }, 0);

/** Reads an answer that is no success; one that is not of the service has the code `internal`. */
export async function failureOf(answer: Response): Promise<ServiceError> {
  const body = (await answer.json().catch(() => null)) as { readonly error?: Partial<Problem> } | null;
  const { code = 'internal', detail = `HTTP ${answer.status}`, hint = null, ...rest } = body?.error ?? {};
  const wait = Number(answer.headers.get('retry-after') ?? Number.NaN);
  return new ServiceError({ code, detail, hint, ...rest }, answer.status, Number.isNaN(wait) ? null : wait);
}

/** A broken connection and a proxy's time-out leave open whether the service acted; of its own answers `throttled` says that it did not. */
export const leavesOpen = ({ status, code }: ServiceError): boolean =>
  status === 0 || status === 408 || (status >= 500 && code !== 'throttled');

/** Whether the same request may succeed a moment later. */
export const isPassing = ({ status }: ServiceError): boolean =>
  status === 0 || status === 408 || status >= 500;

export type Outcome<T> =
  | { readonly isOk: true; readonly value: T }
  | { readonly isOk: false; readonly error: ServiceError };

/** Gives a failed call as data. @throws what is no ServiceError: the reason of an aborted signal, or a mistake of the program. */
export async function outcomeOf<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    return { isOk: true, value: await call };
  } catch (thrown) {
    if (thrown instanceof ServiceError) return { isOk: false, error: thrown };
    throw thrown;
  }
}
