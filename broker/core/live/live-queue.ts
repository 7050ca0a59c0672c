// The queue of one reader of a live stream, bounded: the newest text of each device, and all other messages in order. Pure.
// It never drops such a message silently and never exceeds its limit: a reader too far behind overflows, and resumes by the
// number of its last message. A reader that keeps up holds nothing of its own: batches are shared with others.
import { createMessageBatch, type DeviceBatch, type MessageBatch } from './live-batch.ts';

export const queueLimits = {
  /** Messages that are never coalesced; one more is an overflow. */
  messages: 5000,
  /** Messages given at once, where batches are not given as they are. */
  portion: 500,
} as const;

export interface LiveQueue {
  /** Messages that must arrive. */
  offer(batch: MessageBatch): void;
  /** The present of devices: replaces what still waits of them from an earlier beat. */
  offerDevices(batch: DeviceBatch): void;
  /** Something to say when nothing else waits; only the newest counts. */
  offerComment(text: string): void;
  /** Events up to here come from the store: they are dropped, now and later. */
  startAfter(no: number): void;
  /** The next portion, devices first: a number is seen only after all that came before it. Empty when nothing waits. */
  take(): Uint8Array;
  /** True once more waited than may; from then on the queue stays empty. */
  isOverflowing(): boolean;
}

const encoder = new TextEncoder();
const nothing = new Uint8Array();

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Device texts of a reader. */
function createDeviceQueue(portion: number) {
  /** Of the newest beat, as they came. */
  let shared: DeviceBatch[] = [];
  /** What was left of earlier beats. */
  let own: Map<number, string> | null = null;

  const takeOwn = (texts: Map<number, string>): Uint8Array => {
    const taken: string[] = [];
    for (const [deviceNo, text] of texts) {
      if (taken.length === portion) break;
      taken.push(text);
      texts.delete(deviceNo);
    }
    if (texts.size === 0) own = null;
    return encoder.encode(taken.join(''));
  };

  return {
    add(batch: DeviceBatch): void {
      const isBehind = own !== null || (shared[0] !== undefined && shared[0].beat !== batch.beat);
      if (!isBehind) return void shared.push(batch);
      const texts = own ?? new Map<number, string>();
      for (const one of [...shared, batch])
        for (const [deviceNo, text] of one.texts) texts.set(deviceNo, text);
      shared = [];
      own = texts;
    },
    take(): Uint8Array {
      if (own !== null) return takeOwn(own);
      return shared.shift()?.bytes() ?? nothing;
    },
    isEmpty: () => own === null && shared.length === 0,
    clear(): void {
      shared = [];
      own = null;
    },
  };
}

/** An empty queue. @param limits other than `queueLimits`. */
export function createLiveQueue(
  limits: { readonly messages: number; readonly portion: number } = queueLimits,
): LiveQueue {
  const devices = createDeviceQueue(limits.portion);
  let waiting: MessageBatch[] = [];
  let count = 0;
  let comment = '';
  let floor = -1;
  let isOverflowing = false;

  /** What of a batch did not come from the store. */
  const fresh = (batch: MessageBatch): MessageBatch =>
    batch.firstNo > floor
      ? batch
      : createMessageBatch(batch.messages.filter(({ no }) => no === null || no > floor));
  const push = (batch: MessageBatch): void => {
    if (batch.messages.length === 0) return;
    waiting.push(batch);
    count += batch.messages.length;
  };
  const takeMessages = (): Uint8Array => {
    let taken = 0;
    const some: MessageBatch[] = [];
    for (const batch of waiting) {
      if (taken > 0 && taken + batch.messages.length > limits.portion) break;
      some.push(batch);
      taken += batch.messages.length;
    }
    waiting = waiting.slice(some.length);
    count -= taken;
    const [only] = some;
    return some.length === 1 && only !== undefined ? only.bytes() : concat(some.map((one) => one.bytes()));
  };

  return {
    offer(batch) {
      if (isOverflowing) return;
      push(fresh(batch));
      // Its resume point is older than this message: said after it, it would lead back before it.
      if (batch.messages.length > 0) comment = '';
      if (count <= limits.messages) return;
      isOverflowing = true;
      waiting = [];
      count = 0;
      devices.clear();
      comment = '';
    },
    offerDevices(batch) {
      if (!isOverflowing) devices.add(batch);
    },
    offerComment(text) {
      if (!isOverflowing) comment = text;
    },
    startAfter(no) {
      floor = no;
      comment = '';
      const batches = waiting;
      waiting = [];
      count = 0;
      for (const batch of batches) push(fresh(batch));
    },
    take() {
      if (!devices.isEmpty()) return devices.take();
      if (waiting.length > 0) return takeMessages();
      const text = comment;
      comment = '';
      return text === '' ? nothing : encoder.encode(text);
    },
    isOverflowing: () => isOverflowing,
  };
}
