// Splits the bytes of a connection into complete, validated packets. Pure. One packet of the currently allowed size and one read bound its memory,
// whatever a header claims and however slowly the bytes come.
import {
  type Fault,
  judgeFirstByte,
  judgePacket,
  judgeStart,
  packetTypes,
  readHeader,
} from './mqtt-frame.ts';

/** A complete packet. Its bytes are never changed afterwards. */
interface Packet {
  readonly kind: 'packet';
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** `more`: valid so far, incomplete. */
type Cut = Packet | { readonly kind: 'more' } | { readonly kind: 'fault'; readonly fault: Fault };

export interface Framer {
  /** Adds bytes; only after `next` returned `more`. They must not change afterwards. */
  push(chunk: Uint8Array): void;
  /**
   * Returns the next packet.
   * @param bytesMost maximum size of the whole packet. A longer one is a fault as soon as its header is there.
   */
  next(bytesMost: number): Cut;
  /** Type of the next packet, complete or not; 0: none of its bytes is there. */
  nextType(): number;
  /** Number of bytes held. */
  readonly held: number;
}

const leastRoom = 256;
const more = { kind: 'more' } as const;
const faulty = (reason: string): Cut => ({ kind: 'fault', fault: { reason, returnCode: null } });

const nothing = new Uint8Array(0);

/** A class instead of closures, to save memory: one instance per connection. */
class StreamFramer implements Framer {
  #store: Uint8Array = nothing;
  #isOwn = false;
  #from = 0;
  #to = 0;
  #isFirst = true;

  push(chunk: Uint8Array): void {
    if (this.#from === this.#to) {
      this.#store = chunk;
      this.#isOwn = false;
      this.#from = 0;
      this.#to = chunk.length;
      return;
    }
    const held = this.#to - this.#from;
    const needed = held + chunk.length;
    // Bytes of returned packets are never overwritten: their readers may still use them.
    if (!this.#isOwn || this.#from > 0 || needed > this.#store.length) {
      const room = new Uint8Array(Math.max(leastRoom, 2 ** Math.ceil(Math.log2(needed))));
      room.set(this.#store.subarray(this.#from, this.#to));
      this.#store = room;
      this.#isOwn = true;
      this.#from = 0;
      this.#to = held;
    }
    this.#store.set(chunk, this.#to);
    this.#to += chunk.length;
  }

  next(bytesMost: number): Cut {
    const [store, from, to] = [this.#store, this.#from, this.#to];
    if (from === to) {
      // A connection is idle most of its life and must not keep its last read.
      this.#store = nothing;
      this.#from = 0;
      this.#to = 0;
      return more;
    }
    // Checked before the length is used (MQTT-3.1.0-1).
    const other = this.#isFirst ? judgeStart(store.subarray(from, to)) : null;
    if (other !== null) return { kind: 'fault', fault: other };
    const header = readHeader(store, from, to);
    if (header === null) return this.#wait();
    if ('reason' in header) return { kind: 'fault', fault: header };
    if (header.end - from > bytesMost)
      return faulty(
        `packet of ${header.end - from} bytes: send at most ${bytesMost}, with a payload of at most 65536 bytes`,
      );
    if (header.end > to) return this.#wait();
    if (!this.#isFirst && header.type === packetTypes.connect) return faulty('second CONNECT (MQTT-3.1.0-2)');
    const wrong = judgePacket(store, header);
    if (wrong !== null) return { kind: 'fault', fault: wrong };
    this.#isFirst = false;
    const bytes = store.subarray(from, header.end);
    this.#from = header.end;
    return { kind: 'packet', type: header.type, bytes };
  }

  nextType(): number {
    return this.#from === this.#to ? 0 : (this.#store[this.#from] ?? 0) >> 4;
  }

  /** Fails early: an impossible first byte is a fault before the packet is complete. */
  #wait(): Cut {
    const wrong = judgeFirstByte(this.#store[this.#from] ?? 0);
    return wrong === null ? more : { kind: 'fault', fault: wrong };
  }

  get held(): number {
    return this.#to - this.#from;
  }
}

export const createFramer = (): Framer => new StreamFramer();
