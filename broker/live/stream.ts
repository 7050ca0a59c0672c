// One reader of the live stream: first what it missed, from the store, then what waits for it, for as long as it reads.
// It is pulled, so nothing is made that the reader has no room for. Ending it wakes a reader that waits, at once.
import type { LiveQueue } from '../core/live-queue.ts';

export interface LiveStream extends AsyncIterable<string> {
  /** Something waits in the queue. */
  wake(): void;
  /** The reader gets no more; what waits for it is dropped. */
  end(): void;
}

export interface LiveStreamOptions {
  readonly queue: LiveQueue;
  /** What comes before the queue; text by text. */
  readonly opening: AsyncGenerator<string, void, undefined>;
  /** Called once, whoever ended it. */
  readonly onEnd: () => void;
}

const done: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** A stream to be read once. */
export function createLiveStream({ queue, opening, onEnd }: LiveStreamOptions): LiveStream {
  let isOpening = true;
  let isEnded = false;
  let waiting: ((result: IteratorResult<string, undefined>) => void) | null = null;

  const answer = (result: IteratorResult<string, undefined>): void => {
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
      // A page of which the reader wants nothing.
      if (step.value !== '') return step.value;
    }
  };
  const next = async (): Promise<IteratorResult<string, undefined>> => {
    if (isOpening && !isEnded) {
      const text = await open();
      isOpening = text !== '';
      if (isOpening && !isEnded) return { value: text };
    }
    if (isEnded) return done;
    const text = queue.take();
    if (text !== '') return { value: text };
    return new Promise((resolve) => {
      waiting = resolve;
    });
  };

  return {
    wake() {
      if (waiting === null) return;
      const text = queue.take();
      if (text !== '') answer({ value: text });
    },
    end,
    [Symbol.asyncIterator]: () => ({
      next: () =>
        next().catch((thrown: unknown) => {
          end();
          throw thrown;
        }),
      // The reader has gone. An opening that reads the store just now ends with its page.
      async return() {
        end();
        return done;
      },
    }),
  };
}
