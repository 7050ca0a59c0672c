// One live stream: opens it, and opens it again behind the last message that its reader took, so that none is lost.
import { readMessages, type StreamMessage } from './event-stream.ts';
import { pause, pauseMs } from './request.ts';
import { isPassing, ServiceError } from './service-error.ts';
import { watchSilence } from './silence.ts';

/** A message, and the `id` to continue behind it; null: none yet. */
export interface FollowedMessage extends StreamMessage {
  readonly resumeID: string | null;
}

export interface FollowOptions {
  /** Opens the stream behind this id; null: from now on. The signal ends its body. @throws ServiceError */
  open(lastID: string | null, signal: AbortSignal): Promise<Response>;
  readonly resumeID?: string | null;
  readonly signal?: AbortSignal;
  /** Something came, if only a sign of life. */
  onAlive?(): void;
  /** It is silent, or has ended; it is opened again by itself. */
  onDown?(failure: ServiceError | null): void;
  /** What to wait for before a stream that could not be opened is tried again; without it such a stream ends with the error. */
  afterRefusal?(failure: ServiceError): Promise<void>;
}

interface Reading {
  resumeID: string | null;
  /** Something came since the last pause. */
  isAlive: boolean;
}

/** Reads until the stream ends. @throws ServiceError when it does not begin; nothing for one that breaks off. */
async function* readOnce(
  reading: Reading,
  { open, signal, onAlive, onDown }: FollowOptions,
): AsyncGenerator<readonly FollowedMessage[], void, undefined> {
  const stop = new AbortController();
  const leave = (): void => stop.abort(signal?.reason);
  if (signal?.aborted === true) leave();
  else signal?.addEventListener('abort', leave, { once: true });
  const silence = watchSilence({ onSilent: () => onDown?.(null), onDead: () => stop.abort() });
  try {
    const { body } = await open(reading.resumeID, stop.signal);
    if (body === null) return;
    const pieces = readMessages(body);
    for (;;) {
      const piece = await pieces.next().catch(() => null);
      if (piece === null || piece.done === true || !silence.renew()) return;
      reading.isAlive = true;
      onAlive?.();
      let { resumeID } = reading;
      const messages = piece.value.map((message) => ({
        ...message,
        resumeID: (resumeID = message.id ?? resumeID),
      }));
      silence.hold();
      yield messages.filter(({ data }) => data !== '');
      // Only now: what the reader did not take comes again.
      reading.resumeID = resumeID;
      silence.release();
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    silence.stop();
    stop.abort();
  }
}

/**
 * Follows a stream until its reader leaves or the signal aborts, which ends it without an error. Broken, silent and busy connections are opened
 * again with growing pauses.
 * @throws ServiceError when the service refuses it for good: the token is not valid, or what was chosen is not known.
 */
export async function* followStream(
  options: FollowOptions,
): AsyncGenerator<readonly FollowedMessage[], void, undefined> {
  const { signal, onDown, afterRefusal } = options;
  const reading: Reading = { resumeID: options.resumeID ?? null, isAlive: false };
  const isLeft = (): boolean => signal?.aborted === true;
  for (let attempt = 0; !isLeft(); attempt += 1) {
    let failure: ServiceError | null = null;
    reading.isAlive = false;
    try {
      yield* readOnce(reading, options);
    } catch (thrown) {
      if (isLeft()) return;
      // What is no failure of the service was thrown by the stop of a silent connection.
      if (thrown instanceof ServiceError) failure = thrown;
    }
    if (isLeft()) return;
    onDown?.(failure);
    if (reading.isAlive) attempt = 0;
    if (failure !== null && !isPassing(failure)) {
      if (afterRefusal === undefined) throw failure;
      await afterRefusal(failure);
    }
    await pause(pauseMs(attempt, failure), signal).catch(() => undefined);
  }
}
