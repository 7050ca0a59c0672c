// What goes out to vehicles through the cluster: published as mandatory and confirmed, so that "sent" means that a
// subscription of the vehicle took it. It must never say so of anything that was returned, lost, or not answered.
import type { ConfirmChannel } from 'amqplib';
import type { DeviceAddress } from '../../../src/core/wire/topics.ts';
import type { Clock } from '../../../src/ports.ts';
import { formatRoutingKey, topicExchange } from '../../core/cluster/cluster-access.ts';
import type { Downlink } from '../../ports/mqtt-server.ts';

/** Messages without an answer; beyond it nothing more is sent. */
const pendingMost = 10_000;
/** A cluster that holds publishers up (memory, disk) answers nothing. */
const answerMs = 10_000;

interface Pending {
  isReturned: boolean;
  resolve(isSent: boolean): void;
}

export interface Outlet {
  /** False while there is no connection or it is held up, when no subscription takes it, and when the outcome is unknown. */
  publish(device: DeviceAddress, message: Downlink): Promise<boolean>;
  /** From now on through this channel; null: there is none. What the one before has not answered counts as not sent. */
  use(channel: ConfirmChannel | null): void;
  /** The same as `use(null)` if this one is used now. */
  release(channel: ConfirmChannel): void;
  /**
   * The cluster holds publishers up, or does so no more. Nothing is written meanwhile: it would leave when the alarm ends,
   * hours after it was withdrawn.
   */
  hold(isHeld: boolean): void;
  isHeld(): boolean;
}

export function createOutlet(clock: Clock): Outlet {
  let current: ConfirmChannel | null = null;
  let isHeldUp = false;
  let lastNo = 0;
  const pending = new Map<string, Pending>();
  const complete = (id: string, isSent: boolean): void => {
    const one = pending.get(id);
    pending.delete(id);
    one?.resolve(isSent && !one.isReturned);
  };
  const use = (channel: ConfirmChannel | null): void => {
    current = channel;
    isHeldUp = false;
    for (const id of pending.keys()) complete(id, false);
    channel?.on('return', ({ properties }) => {
      const one = pending.get(String(properties.messageId));
      if (one !== undefined) one.isReturned = true;
    });
  };
  return {
    use,
    release(channel) {
      if (current === channel) use(null);
    },
    hold(isHeld) {
      isHeldUp = isHeld;
    },
    isHeld: () => isHeldUp,
    publish(device, { verb, payload, qos }) {
      const channel = current;
      if (channel === null || isHeldUp || pending.size >= pendingMost) return Promise.resolve(false);
      lastNo += 1;
      const messageId = String(lastNo);
      return new Promise((resolve) => {
        const cancel = clock.after(answerMs, () => complete(messageId, false));
        pending.set(messageId, {
          isReturned: false,
          resolve(isSent) {
            cancel();
            resolve(isSent);
          },
        });
        const options = {
          mandatory: true,
          messageId,
          // 4.x takes the quality of service from persistence, 3.x from the header.
          persistent: qos === 1,
          headers: { 'x-mqtt-publish-qos': qos },
        };
        try {
          channel.publish(
            topicExchange,
            formatRoutingKey(device, verb),
            Buffer.from(payload),
            options,
            (error) => complete(messageId, error === null || error === undefined),
          );
        } catch {
          // The channel closed in this loop turn.
          complete(messageId, false);
        }
      });
    },
  };
}
