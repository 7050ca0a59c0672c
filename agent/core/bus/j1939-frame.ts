// Identifiers and numbers of SAE J1939: what an identifier of 29 bits names, and which raw values are measurements. Ranges: SAE J1939-71.

export interface J1939Id {
  /** 0 (highest) to 7. */
  readonly priority: number;
  /** Parameter group number, 18 bits. */
  readonly pgn: number;
  /** Address of the receiver; null: all. */
  readonly destination: number | null;
  /** Address of the sender. */
  readonly source: number;
}

/** The parts of an identifier of 29 bits. */
export function parseJ1939Id(id: number): J1939Id {
  const format = (id >>> 16) & 0xff;
  const specific = (id >>> 8) & 0xff;
  const pages = (id >>> 24) & 0x03;
  const isBroadcast = format >= 240;
  return {
    priority: (id >>> 26) & 0x07,
    pgn: (pages << 16) | (format << 8) | (isBroadcast ? specific : 0),
    destination: isBroadcast || specific === 0xff ? null : specific,
    source: id & 0xff,
  };
}

/** A raw number, or why there is none: the sender reports an error, or that it does not have it. */
export type RawReading = number | 'error' | 'not_available';

/** A number of 1, 2, 3 or 4 whole bytes, least significant first; `start` counts from 1 as in SAE J1939. */
export function readBytes(data: Uint8Array, start: number, length: number): RawReading {
  if (start - 1 + length > data.length) return 'not_available';
  let raw = 0;
  for (let at = start - 2 + length; at >= start - 1; at -= 1) raw = raw * 256 + (data[at] ?? 0);
  const highest = data[start - 2 + length] ?? 0;
  // The highest byte decides: up to FA a measurement, FE an error, FF not available, FB to FD reserved.
  if (highest <= 0xfa) return raw;
  return highest === 0xfe ? 'error' : 'not_available';
}

/** A state of two bits at `bit` (from 1) of byte `start`: 0 or 1. */
export function readTwoBits(data: Uint8Array, start: number, bit: number): RawReading {
  if (start > data.length) return 'not_available';
  const raw = ((data[start - 1] ?? 0) >>> (bit - 1)) & 0x03;
  if (raw < 2) return raw;
  return raw === 2 ? 'error' : 'not_available';
}

/** A state of three bits, 0 to 5; 6 is an error, 7 not available. */
export function readThreeBits(data: Uint8Array, start: number, bit: number): RawReading {
  if (start > data.length) return 'not_available';
  const raw = ((data[start - 1] ?? 0) >>> (bit - 1)) & 0x07;
  if (raw < 6) return raw;
  return raw === 6 ? 'error' : 'not_available';
}
