// Closes dead sockets, for at most some milliseconds of each loop turn: when a gateway with ten thousand of them goes down, the
// other connections must not wait for all of that. None of them may be forgotten.
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../src/ports.ts';
import { createLoopPace } from './loop-pace.ts';

/** Time in one loop turn, in ms. */
const turnMs = 10;

/**
 * Gives what to do with each stream once it was handed on: it is destroyed in its turn after its end has come.
 * `before`: listeners for its end that it had before it was handed on. The next one is that of aedes 1.2, which would destroy
 * it, and do all that follows, in the turn in which the end came; aedes gets the close event as well.
 */
export function createPacedClose(clock: Clock): (stream: Duplex, before: number) => void {
  const ended = new Set<Duplex>();
  const work = createLoopPace({
    clock,
    turnMs,
    step() {
      const [first] = ended;
      if (first === undefined) return false;
      ended.delete(first);
      first.destroy();
      return true;
    },
  });
  // One function for all: there are as many listeners as vehicles.
  function onEnd(this: Duplex): void {
    ended.add(this);
    work();
  }
  return (stream, before) => {
    const aedesListener = stream.listeners('end')[before];
    if (aedesListener !== undefined) stream.removeListener('end', aedesListener as () => void);
    // Else Node ends each at once.
    stream.allowHalfOpen = true;
    stream.on('end', onEnd);
  };
}
