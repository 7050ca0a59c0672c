// A serial device behind one name that can be plugged in and out; each plug has other terminals, as the kernel would give it another name.
import { openSerialPort } from '../../../agent/adapters/serial-port.ts';
import type { ByteLink } from '../../../src/ports.ts';
import { type PtyPair, ptyPair, serial } from './pty-bus.ts';
import { point } from './serial-board.ts';

export interface PluggedPort {
  plug(): Promise<void>;
  unplug(): Promise<void>;
  /** Sends from the device; nothing while it is not plugged in. */
  send(bytes: Uint8Array): void;
}

/** @param given.path the name; `onBytes` takes what is written to the device, `onUnplug` is called when it has lost its supply. */
export function createPluggedPort(given: {
  readonly folder: string;
  readonly path: string;
  onBytes(bytes: Uint8Array): void;
  onUnplug?(): void;
}): PluggedPort {
  const { folder, path, onBytes, onUnplug } = given;
  let pair: PtyPair | null = null;
  let link: ByteLink | null = null;
  let plugs = 0;
  return {
    async plug() {
      plugs += 1;
      pair = await ptyPair(folder, `ttyUSB${plugs}`);
      link = await openSerialPort(serial(pair.far), { onBytes, onDown: () => undefined });
      point(path, pair.near);
    },
    async unplug() {
      await link?.close();
      await pair?.close();
      link = null;
      pair = null;
      onUnplug?.();
    },
    send: (bytes) => void link?.write(bytes),
  };
}
