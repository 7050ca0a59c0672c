// One reader of the live stream: first what it missed, from the store, then its queue.
// It is pulled, so nothing is made before the reader can take it. Ending it wakes a waiting reader at once.
import type { LiveQueue } from '../core/live/live-queue.ts';

export interface LiveStream extends AsyncIterable<Uint8Array> {
  /** Something waits in the queue. */
  wake(): void;
  /** The reader gets no more; what waits for it is dropped. */
  end(): void;
}

export interface LiveStreamOptions {
  readonly queue: LiveQueue;
  /** What comes before the queue; text by text. */
  readonly opening: AsyncGenerator<string, void, undefined>;
  /** Called once, whichever side ended it. */
  readonly onEnd: () => void;
}

const done: IteratorReturnResult<undefined> = { done: true, value: undefined };
const encoder = new TextEncoder();

/** A stream to be read once. */
export function createLiveStream({ queue, opening, onEnd }: LiveStreamOptions): LiveStream {
  let isOpening = true;
  let isEnded = false;
  let waiting: ((result: IteratorResult<Uint8Array, undefined>) => void) | null = null;

  const answer = (result: IteratorResult<Uint8Array, undefined>): void => {
    const resolve = waiting;
    waiting = null;
    resolve?.(result);
  };
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    answer(done);
    onEnd();
  };
  /** The next text of the opening; '' when it has none left. */
  const open = async (): Promise<string> => {
    for (;;) {
      const step = await opening.next();
      if (step.done === true) return '';
      // A page without a message for this reader.
      if (step.value !== '') return step.value;
    }
  };
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    if (isOpening && !isEnded) {
      const text = await open();
      isOpening = text !== '';
      if (isOpening && !isEnded) return { value: encoder.encode(text) };
    }
    if (isEnded) return done;
    const bytes = queue.take();
    if (bytes.length > 0) return { value: bytes };
    return new Promise((resolve) => {
      waiting = resolve;
    });
  };

  return {
    wake() {
      if (waiting === null) return;
      const bytes = queue.take();
      if (bytes.length > 0) answer({ value: bytes });
    },
    end,
    [Symbol.asyncIterator]: () => ({
      next: () =>
        next().catch((thrown: unknown) => {
          end();
          throw thrown;
        }),
      // The reader has disconnected. An opening that is reading the store ends with its page.
      async return() {
        end();
        return done;
      },
    }),
  };
}
