// Serial RFID readers for 125 kHz tags (EM4100): ID-12LA (ID Innovations data sheet "ID-2LA, ID-12LA, ID-20LA", ASCII format: STX, 10 hex
// digits, 2 of checksum, CR, LF, ETX) and RDM6300 (Seeed/ITEAD data sheet: the same without CR and LF). 9600 baud, 8N1. The checksum is the
// exclusive or of the five bytes. ID-12LA sends a tag once when it comes into the field, RDM6300 as long as it stays. Nothing is sent to them.
import { isKeyID, keyOf } from './key-id.ts';
import { type KeyProtocol, type KeyStep, noStep } from './key-protocol.ts';

const stx = 0x02;
const etx = 0x03;
/** Digits, checksum, CR and LF. */
const frameMost = 14;
const framePattern = /^[0-9A-Fa-f]{12}(?:\r\n)?$/;

/** The tag of one frame without STX and ETX; null for one that is damaged. The tag of zeros is what a reader without a tag reads. */
function tagOf(frame: string): string | null {
  if (!framePattern.test(frame)) return null;
  const bytes = Array.from({ length: 6 }, (_, index) =>
    Number.parseInt(frame.slice(index * 2, index * 2 + 2), 16),
  );
  const id = keyOf(bytes.slice(0, 5));
  const isSound = bytes.reduce((sum, byte) => sum ^ byte, 0) === 0;
  return isSound && isKeyID(id) && id !== '0000000000' ? id : null;
}

/** A reader that sends each tag by itself. */
export function createRfidFrames(): KeyProtocol {
  /** What came since STX; null: outside of a frame. */
  let frame: string | null = null;
  return {
    begin() {
      frame = null;
      return noStep;
    },
    bytes(bytes): KeyStep {
      const keys: string[] = [];
      let rejected = 0;
      let noise = 0;
      for (const byte of bytes) {
        if (byte === stx) {
          if (frame !== null) rejected += 1;
          frame = '';
        } else if (frame === null) {
          noise += 1;
        } else if (byte === etx) {
          const tag = tagOf(frame);
          if (tag === null) rejected += 1;
          else keys.push(tag);
          frame = null;
        } else if (frame.length >= frameMost) {
          rejected += 1;
          frame = null;
        } else {
          frame += String.fromCharCode(byte);
        }
      }
      return { writes: [], keys, rejected, noise };
    },
    time: () => noStep,
    wakeMs: () => Number.POSITIVE_INFINITY,
    fault: () => null,
  };
}
