// Consumes one queue of the cluster, some deliveries at a time, and acknowledges it up to where everything before it is
// done, in order. What is not acknowledged when the channel ends goes to another bridge. It must never acknowledge a
// delivery whose work is not done, and never reject one: what is rejected is lost.
import type { Channel, ConsumeMessage } from 'amqplib';
import { messageOf } from '../../../src/core/errors.ts';
import type { Clock, Log } from '../../../src/ports.ts';
import { waitAtMost } from '../../../src/timeout.ts';
import { createAckWindow } from '../../core/cluster/ack-window.ts';

export interface Delivery {
  readonly routingKey: string;
  readonly payload: Uint8Array;
}

export interface IntakeOptions {
  readonly queue: string;
  /** Deliveries that are not acknowledged, at most. */
  readonly prefetch: number;
  readonly clock: Clock;
  readonly log: Log;
  /** True: it may be acknowledged; false: it was given up because `isWanted` says no more. Must not reject. */
  readonly take: (delivery: Delivery, isWanted: () => boolean) => Promise<boolean>;
  /** The cluster ended the consumer: its queue was removed or moved. */
  readonly onCancelled: () => void;
}

export interface Intake {
  /** Takes nothing further, and waits for what was taken, up to `limitMs`. */
  stop(limitMs: number): Promise<void>;
  /** The channel has closed: its deliveries go to another consumer. */
  drop(): void;
}

/** Starts to take. Rejects when the channel refuses it. */
export async function startIntake(channel: Channel, options: IntakeOptions): Promise<Intake> {
  const { queue, prefetch, clock, log, take, onCancelled } = options;
  const window = createAckWindow();
  const open = new Set<Promise<void>>();
  let isAlive = true;
  let isStopping = false;
  let upTo = 0;
  let acknowledged = 0;
  let isScheduled = false;

  const acknowledge = (): void => {
    isScheduled = false;
    if (!isAlive || upTo <= acknowledged) return;
    try {
      channel.ack({ fields: { deliveryTag: upTo } } as ConsumeMessage, true);
      acknowledged = upTo;
    } catch (thrown) {
      // The channel closed in this loop turn.
      log.debug('cluster_ack_failed', { reason: messageOf(thrown) });
    }
  };
  const done = (tag: number): void => {
    upTo = window.done(tag) ?? upTo;
    if (isScheduled || upTo <= acknowledged) return;
    isScheduled = true;
    // One acknowledgement for all that one commit has made durable.
    setImmediate(acknowledge);
  };
  const onMessage = (message: ConsumeMessage | null): void => {
    if (message === null) return onCancelled();
    // What comes between the end of the consumer and its confirmation goes back when the channel closes.
    if (isStopping || !isAlive) return;
    const { deliveryTag, routingKey } = message.fields;
    window.arrived(deliveryTag);
    const work = async (): Promise<void> => {
      const isDone = await take({ routingKey, payload: message.content }, () => isAlive && !isStopping);
      open.delete(tracked);
      if (isAlive && isDone) done(deliveryTag);
    };
    const tracked = work();
    open.add(tracked);
  };
  await channel.prefetch(prefetch);
  const { consumerTag } = await channel.consume(queue, onMessage, { noAck: false });
  return {
    async stop(limitMs) {
      await waitAtMost(clock, channel.cancel(consumerTag), limitMs);
      await waitAtMost(clock, Promise.all(open), limitMs);
      isStopping = true;
      acknowledge();
    },
    drop() {
      isAlive = false;
    },
  };
}
