// The deliveries of an AMQP channel that may be acknowledged: the longest run of finished ones from the first on, so that a
// cumulative acknowledgement never covers unfinished work. Pure.

export interface AckWindow {
  /** A delivery has come. Tags grow by one (AMQP 0-9-1, 2.3.7 of RabbitMQ's reading: per channel, from 1). */
  arrived(tag: number): void;
  /** The work of a delivery is done. Gives the tag up to which everything is, when that has grown; else null. */
  done(tag: number): number | null;
  /** Deliveries that are not covered by an acknowledgement. */
  size(): number;
}

export function createAckWindow(): AckWindow {
  /** In order of arrival. */
  const open = new Map<number, boolean>();
  return {
    arrived(tag) {
      open.set(tag, false);
    },
    done(tag) {
      if (!open.has(tag)) return null;
      open.set(tag, true);
      let upTo: number | null = null;
      for (const [one, isDone] of open) {
        if (!isDone) break;
        open.delete(one);
        upTo = one;
      }
      return upTo;
    },
    size: () => open.size,
  };
}
