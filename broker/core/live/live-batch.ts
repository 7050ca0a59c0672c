// Messages of a live stream, made and encoded once for all of its readers. Pure.

const encoder = new TextEncoder();

/** A message that must arrive. */
export interface LiveMessage {
  /** Number of its event; null when it has none. */
  readonly no: number | null;
  readonly text: string;
}

/** Bytes that are made when they are first asked for, and then shared. */
function lazyBytes(textOf: () => string): () => Uint8Array {
  let bytes: Uint8Array | null = null;
  return () => {
    bytes ??= encoder.encode(textOf());
    return bytes;
  };
}

/** Messages in order. */
export interface MessageBatch {
  readonly messages: readonly LiveMessage[];
  /** Lowest number of an event; infinite without one. */
  readonly firstNo: number;
  bytes(): Uint8Array;
}

export function createMessageBatch(messages: readonly LiveMessage[]): MessageBatch {
  return {
    messages,
    firstNo: messages.reduce((first, { no }) => (no === null ? first : Math.min(first, no)), Infinity),
    bytes: lazyBytes(() => messages.map(({ text }) => text).join('')),
  };
}

/** States of devices, one text each. */
export interface DeviceBatch {
  /** Batches of one beat have no device in common. */
  readonly beat: number;
  /** By device number. */
  readonly texts: ReadonlyMap<number, string>;
  bytes(): Uint8Array;
}

export function createDeviceBatch(beat: number, texts: ReadonlyMap<number, string>): DeviceBatch {
  return { beat, texts, bytes: lazyBytes(() => [...texts.values()].join('')) };
}
