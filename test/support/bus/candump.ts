// CAN frames of candump logs.
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
