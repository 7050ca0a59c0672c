// The reader of the vehicle bus on real pseudo-terminals, before simulated adapters of three dialects that play a synthetic recording: values,
// a replug, and what was written. Everything is counted; nothing is timed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { startVehicleBus, type VehicleBus } from '../../agent/bus/vehicle-bus.ts';
import { busLimits } from '../../agent/core/bus/bus-limits.ts';
import type { BusReading } from '../../agent/core/bus/bus-reading.ts';
import type { BusStatus } from '../../agent/core/bus/bus-status.ts';
import { slcanDialects } from '../../agent/core/bus/slcan-opening.ts';
import { createSlcanAdapter, type SlcanAdapter } from '../../simulator/hardware/slcan-adapter.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { truckDrive } from '../support/bus/truck-drive.ts';
import { requires } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { runProgram, startProgram } from '../support/programs/fleet-processes.ts';
import { loneStatus, writeLoneConfig } from '../support/programs/lone-agent.ts';
import { createPluggedPort, type PluggedPort } from '../support/serial/plugged-port.ts';
import { sleep } from '../support/serial/pty-bus.ts';

const { missing } = requires({ commands: ['socat'], debian: ['socat'] });

let folder: string;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-bus-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

interface Socket extends Pick<PluggedPort, 'plug' | 'unplug'> {
  readonly adapter: SlcanAdapter;
}

/** A socket for an adapter behind one name. */
function socketOf(path: string, dialect: (typeof slcanDialects)[number]): Socket {
  const adapter = createSlcanAdapter({
    dialect,
    send: (text) => port.send(Buffer.from(text, 'latin1')),
  });
  const port = createPluggedPort({ folder, path, onBytes: adapter.receive, onUnplug: adapter.restart });
  cleanups.unshift(port.unplug);
  return { ...port, adapter };
}

function startBus(path: string, readings: BusReading[]): VehicleBus {
  const bus = startVehicleBus({
    config: {
      port: { path, baudRate: 115_200, dataBits: 8, parity: 'none', stopBits: 1 },
      bitRate: 250_000,
    },
    clock: createSystemClock(),
    openByteLink: openSerialPort,
    log: { info: () => undefined, warn: () => undefined },
    onReading: (reading) => void readings.push(reading),
  });
  cleanups.unshift(() => bus.close());
  return bus;
}

/** Until the reader has opened the adapter, and the adapter has taken in what was written to it. */
const untilListening = ({ adapter }: Socket, bus: VehicleBus): Promise<unknown> =>
  waitUntil(
    'the adapter to listen',
    () => adapter.mode() === 'silent' && bus.reading().adapter.phase === 'open',
  );

/** Fewer frames than are read in one second, however they come. */
const recording = truckDrive(24_000);

/** Frames on the way at most: a terminal and the link before it hold some 16 kB, and a frame has up to 28. */
const onTheWayMost = 250;

/** Plays the recording as fast as it is read, and until all of it is. @param read frames that the reader has counted. */
async function play(adapter: SlcanAdapter, read: () => number): Promise<void> {
  for (const [n, { frame }] of recording.entries()) {
    adapter.frame(frame);
    if (n % onTheWayMost === 0) await waitUntil(`frame ${n}`, () => read() > n);
  }
  await waitUntil('all frames', () => read() === recording.length);
}

it('plays fewer frames than the limit of a second', () => {
  expect(recording.length).toBeGreaterThan(1500);
  expect(recording.length).toBeLessThan(busLimits.framesPerS);
});

describe.skipIf(missing !== null)(`the vehicle bus${missing === null ? '' : ` [${missing}]`}`, () => {
  it.each(slcanDialects)(
    'is read through a %s without a lost frame, and nothing is written to it',
    async (dialect) => {
      const path = join(folder, 'can');
      const socket = socketOf(path, dialect);
      await socket.plug();
      const readings: BusReading[] = [];
      const bus = startBus(path, readings);
      await untilListening(socket, bus);
      const commands = socket.adapter.commands.length;
      await play(socket.adapter, () => bus.reading().view.frames);
      const { adapter, view } = bus.reading();
      expect(adapter).toMatchObject({ dialect, rejected: 0, skipped: 0 });
      expect(view.vin?.value).toBe('WDB9634031L738256');
      expect(view.troubleCodes.map(({ value }) => value.map(({ spn }) => spn))).toEqual([[134_322, 110]]);
      expect(readings.some(({ view: { movement } }) => movement !== null)).toBe(true);
      expect(socket.adapter.commands).toHaveLength(commands);
      expect(socket.adapter.transmissions).toEqual([]);
      expect(adapter.writtenBytes).toBe(socket.adapter.commands.join('\r').length + 1);
    },
  );

  it('is found again after the adapter was plugged in under another number', async () => {
    const path = join(folder, 'can');
    const socket = socketOf(path, 'canable');
    await socket.plug();
    const bus = startBus(path, []);
    await untilListening(socket, bus);
    await socket.unplug();
    await waitUntil('the loss', () => bus.reading().adapter.phase === 'waiting');
    await socket.plug();
    await untilListening(socket, bus);
    await play(socket.adapter, () => bus.reading().view.frames);
    expect(socket.adapter.transmissions).toEqual([]);
  });

  it('is in the status of the agent process, which writes nothing to it', async () => {
    const path = join(folder, 'can');
    const socket = socketOf(path, 'usbtin');
    await socket.plug();
    const config = writeLoneConfig(folder, `[bus]\nport = "${path}"\n`);
    expect(runProgram('agent', ['config', 'check', '--config', config])).toContain('listens only');
    const agent = startProgram('agent', ['start', '--config', config]);
    cleanups.unshift(() => agent.signal('SIGKILL'));
    await waitUntil('the adapter listens', () => agent.lines.some(({ msg }) => msg === 'bus_open'));
    const commands = socket.adapter.commands.length;
    const busOf = async (): Promise<BusStatus | null> => {
      const facts = await loneStatus(folder);
      return (JSON.parse(facts) as { readonly vehicle: { readonly bus: BusStatus | null } }).vehicle.bus;
    };
    // The process counts for its status once a second, so it is given time instead: the line holds three seconds of this pace.
    for (const [n, { frame }] of recording.entries()) {
      socket.adapter.frame(frame);
      if (n % 20 === 0) await sleep(100);
    }
    await waitUntil('values', async () => ((await busOf())?.vin ?? null) !== null);
    const bus = await busOf();
    expect(bus).toMatchObject({ dialect: 'usbtin', vin: 'WDB9634031L738256', rejected: 0, skipped: 0 });
    expect(socket.adapter.commands).toHaveLength(commands);
    expect(socket.adapter.transmissions).toEqual([]);
  });
});
