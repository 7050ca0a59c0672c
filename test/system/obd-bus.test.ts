// A car that is asked on real pseudo-terminals, before simulated adapters of three kinds: values, garbage, a replug, and what was written.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { startObdBus } from '../../agent/bus/obd-bus.ts';
import type { VehicleBus } from '../../agent/bus/vehicle-bus.ts';
import { allowedCommands } from '../../agent/core/obd/obd-commands.ts';
import type { ObdPermission } from '../../agent/core/obd/obd-permission.ts';
import type { BusStatus } from '../../agent/core/status/bus-status.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { createCar, createElmAdapter, type ElmAdapter } from '../support/bus/elm-adapter.ts';
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
  folder = mkdtempSync(join(tmpdir(), 'fleetward-obd-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

interface Socket extends Omit<PluggedPort, 'send'> {
  readonly adapter: ElmAdapter;
  readonly path: string;
  send(text: string): void;
}

/** A socket for an adapter behind one name. */
function socketOf(kind: 'elm327' | 'clone' | 'stn'): Socket {
  const path = join(folder, 'elm');
  const { car } = createCar({ speed: 42, rpm: 1800 });
  const send = (text: string): void => port.send(Buffer.from(text, 'latin1'));
  const adapter = createElmAdapter({ kind, car, send });
  const port = createPluggedPort({ folder, path, onBytes: adapter.receive, onUnplug: adapter.restart });
  cleanups.unshift(port.unplug);
  return { ...port, adapter, path, send };
}

interface Asking {
  readonly bus: VehicleBus;
  permission: ObdPermission;
}

function ask(path: string): Asking {
  const asking = { permission: 'granted' as ObdPermission };
  const bus = startObdBus({
    config: {
      port: { path, baudRate: 38_400, dataBits: 8, parity: 'none', stopBits: 1 },
      hasConsent: true,
    },
    clock: createSystemClock(),
    openByteLink: openSerialPort,
    log: { info: () => undefined, warn: () => undefined },
    permission: () => asking.permission,
    onReading: () => undefined,
  });
  cleanups.unshift(() => bus.close());
  return Object.assign(asking, { bus });
}

const speedOf = ({ bus }: Asking): number | null =>
  bus.reading().view.values.find(({ name }) => name === 'speed')?.value ?? null;

describe.skipIf(missing !== null)(`a car that is asked${missing === null ? '' : ` [${missing}]`}`, () => {
  it.each(['elm327', 'clone', 'stn'] as const)(
    'is read through a %s by commands of the allow-list',
    async (kind) => {
      const socket = socketOf(kind);
      await socket.plug();
      const asking = ask(socket.path);
      await waitUntil('the speed', () => speedOf(asking) === 42);
      await waitUntil('polling', () => asking.bus.reading().adapter.phase === 'open');
      const { adapter, view } = asking.bus.reading();
      expect(adapter).toMatchObject({ phase: 'open', dialect: kind });
      expect(view.vin?.value).toBe('1D4GP00R55B123456');
      asking.permission = 'ignition_off';
      await waitUntil('the end', () => asking.bus.reading().adapter.phase === 'waiting');
      for (const command of socket.adapter.commands)
        expect(allowedCommands as readonly string[]).toContain(command);
      const commands = socket.adapter.commands.length;
      await sleep(1500);
      expect(socket.adapter.commands).toHaveLength(commands);
      expect(asking.bus.reading().adapter.writtenBytes).toBe(socket.adapter.commands.join('\r').length + 1);
    },
  );

  it('is read again after the adapter was plugged in under another number, and past garbage', async () => {
    const socket = socketOf('elm327');
    await socket.plug();
    const asking = ask(socket.path);
    await waitUntil('the speed', () => speedOf(asking) === 42);
    await socket.unplug();
    await waitUntil('the loss', () => asking.bus.reading().adapter.refusal === 'port');
    const answers = asking.bus.reading().view.frames;
    await socket.plug();
    socket.send(`${'\u0000\u00fc7E8 ZZ'.repeat(400)}\r>`);
    await waitUntil('answers', () => asking.bus.reading().view.frames > answers);
  });

  it('is not asked by the agent process without an ignition that is read, nor without consent', async () => {
    const socket = socketOf('elm327');
    await socket.plug();
    const config = writeLoneConfig(folder, `[bus]\nport = "${socket.path}"\nprofile = "obd"\n`);
    const refused = runProgram('agent', ['config', 'check', '--config', config]);
    expect(refused).toContain('WARNING: profile obd without bus.obdConsent');
    appendFileSync(config, 'obdConsent = true\n');
    expect(runProgram('agent', ['config', 'check', '--config', config])).toContain(
      'asks the car with its ignition on',
    );
    const agent = startProgram('agent', ['start', '--config', config]);
    cleanups.unshift(() => agent.signal('SIGKILL'));
    await waitUntil('the start', () => agent.lines.some(({ msg }) => msg === 'agent_started'));
    const busOf = async (): Promise<BusStatus | null> => {
      const facts = await loneStatus(folder);
      return (JSON.parse(facts) as { readonly vehicle: { readonly bus: BusStatus | null } }).vehicle.bus;
    };
    await waitUntil('the status', async () => (await busOf())?.refusal === 'ignition_unknown');
    await sleep(1500);
    expect(await busOf()).toMatchObject({ state: 'waiting', writtenBytes: 0 });
    expect(socket.adapter.commands).toEqual([]);
  });
});
