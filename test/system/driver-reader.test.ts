// The reader of drivers' keys on real pseudo-terminals: both kinds, noise and a replug; and in the agent process, whose log must name no key.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import type { DriverStatus } from '../../agent/core/driver/driver-status.ts';
import type { ReaderKind } from '../../agent/core/driver/key-protocol.ts';
import { type KeyReader, startKeyReader } from '../../agent/driver/key-reader.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { requires } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { runProgram, startProgram } from '../support/programs/fleet-processes.ts';
import { loneStatus, writeLoneConfig } from '../support/programs/lone-agent.ts';
import { createLineDriver, idOfRom, rfidFrame, romOf } from '../support/serial/key-readers.ts';
import { createPluggedPort, type PluggedPort } from '../support/serial/plugged-port.ts';
import { serial } from '../support/serial/pty-bus.ts';

const { missing } = requires({ commands: ['socat'], debian: ['socat'] });

let folder: string;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-driver-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

const tag = '62E3086CED';

/** A socket for a reader behind one name. */
function socketOf(path: string, onBytes: (bytes: Uint8Array) => void = () => undefined): PluggedPort {
  const port = createPluggedPort({ folder, path, onBytes });
  cleanups.unshift(port.unplug);
  return port;
}

function startReader(
  path: string,
  kind: ReaderKind,
): { readonly reader: KeyReader; readonly keys: string[] } {
  const keys: string[] = [];
  const reader = startKeyReader({
    config: { kind, port: { ...serial(path), dataBits: 8, parity: 'none', stopBits: 1 } },
    clock: createSystemClock(),
    openByteLink: openSerialPort,
    log: { info: () => undefined, warn: () => undefined },
    onKey: (id) => void keys.push(id),
    onReading: () => undefined,
  });
  cleanups.unshift(() => reader.close());
  return { reader, keys };
}

const untilOpen = (reader: KeyReader) => waitUntil('the port', () => reader.reading().phase === 'open');

describe.skipIf(missing !== null)(
  `a reader of drivers' keys${missing === null ? '' : ` [${missing}]`}`,
  () => {
    it('reads tags between noise and damaged readings, and is found again after a replug', async () => {
      const path = join(folder, 'reader');
      const socket = socketOf(path);
      await socket.plug();
      const { reader, keys } = startReader(path, 'rfid');
      await untilOpen(reader);
      socket.send(Buffer.from('garbage\x0262E3086CED09\x03'));
      socket.send(rfidFrame(tag, 'id12la'));
      await waitUntil('the tag', () => keys.length === 1);
      expect(reader.reading()).toMatchObject({ keys: 1, rejected: 1, noise: 7, fault: null });
      await socket.unplug();
      await waitUntil('the loss', () => reader.reading().fault === 'port');
      await socket.plug();
      await untilOpen(reader);
      // One that it invents, and one that lies there.
      socket.send(rfidFrame('010415148A'));
      for (let n = 0; n < 3; n += 1) socket.send(rfidFrame('0415148A19'));
      await waitUntil('the next tag', () => keys.length === 3);
      expect(keys).toEqual([tag, '0415148A19', '0415148A19']);
    });

    it('asks a line driver for an iButton, and finds it again after its supply failed', async () => {
      const path = join(folder, 'reader');
      const rom = romOf('00000FBC52B1');
      const chip = createLineDriver((bytes) => socket.send(Uint8Array.from(bytes)));
      const socket = socketOf(path, (bytes) => chip.receive(bytes));
      await socket.plug();
      chip.hold(rom);
      const { reader, keys } = startReader(path, 'ds2480b');
      await waitUntil('the iButton', () => keys.length > 0);
      chip.power(false);
      await waitUntil('the fault', () => reader.reading().fault === 'no_answer');
      const before = keys.length;
      chip.power(true);
      await waitUntil('the iButton again', () => keys.length > before);
      expect(new Set(keys)).toEqual(new Set([idOfRom(rom)]));
      expect(reader.reading()).toMatchObject({ fault: null });
    });

    it('is in the status of the agent process, whose log and status name no key', async () => {
      const path = join(folder, 'reader');
      const socket = socketOf(path);
      await socket.plug();
      const config = writeLoneConfig(folder, `[driverReader]\nport = "${path}"\n[driver]\nkeys = "${tag}"\n`);
      expect(runProgram('agent', ['config', 'check', '--config', config])).toContain('rfid at');
      const agent = startProgram('agent', ['start', '--config', config]);
      cleanups.unshift(() => agent.signal('SIGKILL'));
      const driverOf = (text: string): DriverStatus | null =>
        (JSON.parse(text) as { readonly vehicle: { readonly driver: DriverStatus | null } }).vehicle.driver;
      await waitUntil('the reader', () => agent.lines.some(({ msg }) => msg === 'driver_reader_open'));
      for (let n = 0; n < 2; n += 1) socket.send(rfidFrame('0415148A19'));
      await waitUntil('the unknown key', () => agent.lines.some(({ msg }) => msg === 'driver_key_unknown'));
      // The first key is away from the reader 3 s after it was read.
      await waitUntil('the driver', async () => {
        socket.send(rfidFrame(tag));
        return driverOf(await loneStatus(folder))?.driver === '…6CED';
      });
      const shown = JSON.stringify(agent.lines) + (await loneStatus(folder));
      for (const id of [tag, '0415148A19']) expect(shown).not.toContain(id);
    });
  },
);
