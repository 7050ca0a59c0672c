// CAN frames of recordings: candump logs, PCAN traces, and tables of SavvyCAN.
import type { CanFrame } from '../../../agent/core/bus/slcan-line.ts';

/** Frames of a candump log with their times, s. */
export function candumpFrames(text: string): readonly { readonly atS: number; readonly frame: CanFrame }[] {
  return [...text.matchAll(/^\((\d+\.\d+)\) \S+ ([0-9A-F]+)#([0-9A-F]*)$/gm)].map(
    ([, at, id = '', data = '']) => ({
      atS: Number(at),
      frame: {
        id: Number.parseInt(id, 16),
        isExtended: id.length === 8,
        data: Uint8Array.from(Buffer.from(data, 'hex')),
      },
    }),
  );
}

interface TimedFrame {
  readonly atS: number;
  readonly frame: CanFrame;
}

const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replace(/[ ,]/g, ''), 'hex'));

/** Frames of a PCAN trace with 11-bit numbers: `1) 0.6 Rx 0092 8 6F B5 ..`, ms. */
export function traceFrames(text: string): readonly TimedFrame[] {
  return [...text.matchAll(/^ *\d+\) +(\d+\.\d+) +Rx +([0-9A-F]{4}) +\d ((?: ?[0-9A-F]{2})*) *\r?$/gm)].map(
    ([, at, id = '', data = '']) => ({
      atS: Number(at) / 1000,
      frame: { id: Number.parseInt(id, 16), isExtended: false, data: bytesOf(data) },
    }),
  );
}

/** Frames of a table of SavvyCAN: `time us, number, extended, bus, length, bytes`. */
export function tableFrames(text: string): readonly TimedFrame[] {
  return [...text.matchAll(/^(\d+),([0-9A-F]+),(true|false),\d,\d,((?:[0-9A-F]{2},?)*)\r?$/gm)].map(
    ([, at, id = '', isExtended, data = '']) => ({
      atS: Number(at) / 1_000_000,
      frame: { id: Number.parseInt(id, 16), isExtended: isExtended === 'true', data: bytesOf(data) },
    }),
  );
}
