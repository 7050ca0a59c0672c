// How somebody who handed over a publish hears what became of it. A call and no promise: every event of a fleet comes by
// here, and what is kept for it until the commit is what the garbage collector has to carry. Nothing is answered twice.

/** Told once what became of a publish. */
export interface UplinkAnswer {
  /** It is on disk, or need not be: it may be acknowledged. */
  stored(): void;
  /** It must not be acknowledged. AppError `not_found`: the device was deleted. */
  refused(thrown: unknown): void;
}

/** Answers when the work is done, also when it throws at once. */
export function answerBy(answer: UplinkAnswer, work: () => Promise<void>): void {
  // `async` turns a throw into a rejection.
  (async () => work())().then(
    () => answer.stored(),
    (thrown: unknown) => answer.refused(thrown),
  );
}

/** The answer as a promise, for those who wait for one at a time. */
export function answered(start: (answer: UplinkAnswer) => void): Promise<void> {
  return new Promise((resolve, reject) => start({ stored: resolve, refused: reject }));
}
