// How the result of handed-over work is reported: one call, and no promise. Every event of a fleet passes here, and all that
// is kept for it until the commit is work for the garbage collector. Exactly one of the two is called, once.

/** Reports the result of work that was handed over. */
export interface Completion<Outcome = void> {
  /** It is durable, or need not be: it may be acknowledged. */
  done(outcome: Outcome): void;
  /** It must not be acknowledged; nothing of it was written. AppError `not_found`: the device was deleted. */
  fail(thrown: unknown): void;
}

/** Completes when the work ends, also when it throws at once. */
export function completeWith(completion: Completion, work: () => Promise<void>): void {
  // `async` turns a throw into a rejection.
  (async () => work())().then(
    () => completion.done(),
    (thrown: unknown) => completion.fail(thrown),
  );
}

/** The completion as a promise, for callers that wait for one at a time. */
export function completed(start: (completion: Completion) => void): Promise<void> {
  return new Promise((done, fail) => start({ done, fail }));
}
