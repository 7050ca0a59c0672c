// A simulated I/O board on a real pseudo-terminal, in real time, for system tests: it can be unplugged and plugged in under
// another name, behind a name that stays. It must never answer from two plugs at once.
import { renameSync, symlinkSync } from 'node:fs';
import { openSerialPort } from '../../../agent/adapters/serial-port.ts';
import { createSeededEntropy } from '../../../simulator/core/random.ts';
import { type Board, createBoard } from '../../../simulator/hardware/board.ts';
import { createSystemClock } from '../../../src/adapters/system.ts';
import type { ByteLink } from '../../../src/ports.ts';
import { type PtyPair, ptyPair, serial } from './pty-bus.ts';

/** Lets the steady name `name` stand for `path` from one moment to the next, as udev does. */
export function point(name: string, path: string): void {
  symlinkSync(path, `${name}.new`);
  renameSync(`${name}.new`, name);
}

export interface SerialBoard {
  readonly board: Board;
  /** A new adapter: other terminals behind the same name. */
  plug(): Promise<void>;
  /** The terminals hang up and are gone; the name stands for nothing. */
  unplug(): Promise<void>;
  close(): Promise<void>;
}

/** A board that is not plugged in yet; `name` is the path that the agent is told. */
export function serialBoard(folder: string, name: string): SerialBoard {
  let pair: PtyPair | null = null;
  let link: ByteLink | null = null;
  let plugs = 0;
  const board = createBoard({
    name: 'waveshare-relay-d',
    clock: createSystemClock(),
    entropy: createSeededEntropy('serial-board'),
    send: (bytes) => void link?.write(bytes),
  });
  const unplug = async (): Promise<void> => {
    await link?.close();
    await pair?.close();
    link = null;
    pair = null;
  };
  return {
    board,
    async plug() {
      await unplug();
      plugs += 1;
      pair = await ptyPair(folder, `ttyUSB${plugs}`);
      link = await openSerialPort(serial(pair.far), {
        onBytes: (bytes) => board.receive(bytes),
        onDown: () => undefined,
      });
      point(name, pair.near);
    },
    unplug,
    close: unplug,
  };
}
