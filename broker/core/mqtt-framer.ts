// Cuts what a connection sends into whole, judged packets. Pure. It must never hold more than one packet of the size
// that is allowed at the moment and one read, whatever a header claims and however slowly the bytes come.
import { type Fault, judgePacket, packetTypes, readHeader } from './mqtt-frame.ts';

/** A whole packet. Its bytes stay as they are for whoever keeps them. */
interface Packet {
  readonly kind: 'packet';
  readonly type: number;
  readonly bytes: Uint8Array;
}

/** `more`: nothing is wrong, the rest is not there yet. */
type Cut = Packet | { readonly kind: 'more' } | { readonly kind: 'fault'; readonly fault: Fault };

export interface Framer {
  /** Adds bytes; only when `next` gave `more`. They must not change afterwards. */
  push(chunk: Uint8Array): void;
  /**
   * Takes the next packet.
   * @param bytesMost of the whole packet. A longer one is a fault as soon as its header is there.
   */
  next(bytesMost: number): Cut;
  /** Bytes held. */
  readonly held: number;
}

const leastRoom = 256;
const more = { kind: 'more' } as const;
const faulty = (reason: string): Cut => ({ kind: 'fault', fault: { reason, returnCode: null } });

export function createFramer(): Framer {
  let store: Uint8Array = new Uint8Array(0);
  let isOwn = false;
  let from = 0;
  let to = 0;
  let isFirst = true;

  return {
    push(chunk) {
      if (from === to) {
        store = chunk;
        isOwn = false;
        from = 0;
        to = chunk.length;
        return;
      }
      const held = to - from;
      const needed = held + chunk.length;
      // Bytes of packets that were given away are never written again: they may still be read.
      if (!isOwn || from > 0 || needed > store.length) {
        const room = new Uint8Array(Math.max(leastRoom, 2 ** Math.ceil(Math.log2(needed))));
        room.set(store.subarray(from, to));
        store = room;
        isOwn = true;
        from = 0;
        to = held;
      }
      store.set(chunk, to);
      to += chunk.length;
    },
    next(bytesMost) {
      if (from === to) return more;
      // Before any length is believed (MQTT-3.1.0-1).
      if (isFirst && (store[from] ?? 0) >> 4 !== packetTypes.connect) return faulty('CONNECT is not first');
      const header = readHeader(store, from, to);
      if (header === null) return more;
      if ('reason' in header) return { kind: 'fault', fault: header };
      if (header.end - from > bytesMost) return faulty(`packet of ${header.end - from} bytes is too long`);
      if (header.end > to) return more;
      if (!isFirst && header.type === packetTypes.connect) return faulty('second CONNECT (MQTT-3.1.0-2)');
      const wrong = judgePacket(store, header);
      if (wrong !== null) return { kind: 'fault', fault: wrong };
      isFirst = false;
      const bytes = store.subarray(from, header.end);
      from = header.end;
      return { kind: 'packet', type: header.type, bytes };
    },
    get held() {
      return to - from;
    },
  };
}
