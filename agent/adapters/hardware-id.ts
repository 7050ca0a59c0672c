// Names the hardware of this unit: what its sensors have proven is worth nothing on another one, to which the disk was copied.
import { readFileSync } from 'node:fs';

/** Readable by every user, so that agent and doctor read the same: the serial number of the board computer, else of the installation. */
const places = ['/proc/device-tree/serial-number', '/etc/machine-id'] as const;
const longest = 128;

/** '' where no place holds a name. */
export function readHardwareID(): string {
  for (const place of places) {
    try {
      // A device tree ends its texts with a zero byte.
      const text = readFileSync(place, 'utf8').replaceAll('\0', '').trim();
      if (text !== '') return text.slice(0, longest);
    } catch {
      // This machine has no such file.
    }
  }
  return '';
}
