// What a failed call says to people: the service's own text where it gave one.
import { ServiceError } from '../service/call.ts';
import type { Words } from '../words/en.ts';

export interface Failure {
  readonly title: string;
  readonly hint: string;
}

export function failureText(thrown: unknown, { error, login }: Words): Failure {
  if (!(thrown instanceof ServiceError)) return { title: error.loading, hint: String(thrown) };
  if (thrown.code === 'unreachable') return { title: error.unreachable, hint: login.unreachableHint };
  if (thrown.code === 'throttled') return { title: error.throttled(thrown.retryAfterS ?? 1), hint: '' };
  return { title: thrown.message, hint: thrown.hint ?? '' };
}
