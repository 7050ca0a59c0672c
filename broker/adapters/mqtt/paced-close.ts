// Closes dead sockets, for at most some milliseconds of each loop turn. When a gateway with ten thousand connections fails, the other connections
// must not wait for all of them. None of them may be forgotten.
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../src/ports.ts';
import { createLoopPace } from './loop-pace.ts';

/** Time in one loop turn, ms. */
const turnMs = 10;

/**
 * Returns the function that takes over each accepted stream: after its end it is destroyed in its turn. `before` is its number of `end` listeners
 * before aedes 1.2 received it. The next listener is the one of aedes, which would destroy the stream and do all that follows in the turn of the end;
 * aedes gets the close event as well.
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
    // Otherwise Node ends each at once.
    stream.allowHalfOpen = true;
    stream.on('end', onEnd);
  };
}
