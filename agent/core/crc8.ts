// The checksum of 1-Wire devices and of LLS fuel senders. Pure.

/** CRC-8 of Maxim application note 27: x^8 + x^5 + x^4 + 1, lowest bit first. 0 over a frame with its CRC. */
export function crc8(bytes: Iterable<number>): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >> 1) ^ 0x8c : crc >> 1;
  }
  return crc;
}
