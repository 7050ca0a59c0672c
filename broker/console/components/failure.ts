// What a failed call says to people: the service's own text where it gave one.
import { ServiceError } from '../service/call.ts';
import type { Words } from '../words/word-set.ts';

export interface Failure {
  readonly title: string;
  readonly hint: string;
}

/** @param failed what was not done; left out where that is not known. */
export function failureText(thrown: unknown, { error, login }: Words, failed?: string): Failure {
  const of = (title: string, hint: string): Failure => ({
    title: failed === undefined ? title : `${failed}: ${title}`,
    hint,
  });
  if (!(thrown instanceof ServiceError)) return of(error.loading, String(thrown));
  if (thrown.status === 401) return of(login.notSent, login.notSentHint);
  if (thrown.mayHaveActed)
    return { title: error.unanswered, hint: thrown.status === 0 ? error.unansweredHint : thrown.message };
  if (thrown.code === 'unreachable') return of(error.unreachable, login.unreachableHint);
  if (thrown.code === 'throttled') return of(error.throttled({ seconds: thrown.retryAfterS ?? 1 }), '');
  return of(thrown.message, thrown.hint ?? '');
}
