// What waits for one reader of a live stream, as a pure bounded machine: the newest text of each device, and everything
// else one by one in order. It must never drop such a message in silence and never hold more than its limit: a reader
// who falls too far behind overflows, and resumes by the number of the last message that it has seen.

export const queueLimits = {
  /** Messages that are never coalesced; one more is an overflow. */
  messages: 5000,
  /** Messages given at once. */
  portion: 500,
} as const;

export interface LiveQueue {
  /** A message that must arrive. @param no number of its event; null when it tells of none. */
  offer(no: number | null, text: string): void;
  /** The present of a device: replaces what still waits of that device. */
  offerDevice(deviceNo: number, text: string): void;
  /** Something to say when nothing else waits; only the newest counts. */
  offerComment(text: string): void;
  /** Events up to here come from the store: they are dropped, now and later. */
  startAfter(no: number): void;
  /** The next portion, devices first: a number is seen only after all that came before it. '' when nothing waits. */
  take(): string;
  /** True once more waited than may; from then on the queue stays empty. */
  isOverflowing(): boolean;
}

interface Waiting {
  readonly no: number | null;
  readonly text: string;
}

/** An empty queue. @param limits other than `queueLimits`. */
export function createLiveQueue(
  limits: { readonly messages: number; readonly portion: number } = queueLimits,
): LiveQueue {
  const devices = new Map<number, string>();
  let messages: Waiting[] = [];
  let comment = '';
  let floor = -1;
  let isOverflowing = false;

  const takeDevices = (): string[] => {
    const texts: string[] = [];
    for (const [deviceNo, text] of devices) {
      if (texts.length === limits.portion) break;
      texts.push(text);
      devices.delete(deviceNo);
    }
    return texts;
  };

  return {
    offer(no, text) {
      if (isOverflowing || (no !== null && no <= floor)) return;
      messages.push({ no, text });
      // Its resume point is older than this message: said after it, it would lead back before it.
      comment = '';
      if (messages.length <= limits.messages) return;
      isOverflowing = true;
      messages = [];
      devices.clear();
      comment = '';
    },
    offerDevice(deviceNo, text) {
      if (!isOverflowing) devices.set(deviceNo, text);
    },
    offerComment(text) {
      if (!isOverflowing) comment = text;
    },
    startAfter(no) {
      floor = no;
      comment = '';
      messages = messages.filter((one) => one.no === null || one.no > no);
    },
    take() {
      const texts = takeDevices();
      if (devices.size === 0) {
        for (const { text } of messages.splice(0, limits.portion - texts.length)) texts.push(text);
      }
      if (devices.size === 0 && messages.length === 0) {
        texts.push(comment);
        comment = '';
      }
      return texts.join('');
    },
    isOverflowing: () => isOverflowing,
  };
}
