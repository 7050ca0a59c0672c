// A digital fuel sender on real pseudo-terminals: in the agent process, in the doctor, in the calibration of a tank, and at the bench.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import { readBoardProfile } from '../../agent/boards.ts';
import { fuelCalibrate } from '../../agent/cli/fuel-calibrate.ts';
import type { LlsReading } from '../../agent/core/fuel/lls.ts';
import type { VehicleStatus } from '../../agent/core/status/status.ts';
import { startLlsReader } from '../../agent/fuel/lls-reader.ts';
import { createLlsSenders, type LlsSenders } from '../../simulator/hardware/lls-sender.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { requires } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { startBenchProgram } from '../support/programs/bench-program.ts';
import { startProgram } from '../support/programs/fleet-processes.ts';
import { loneStatus, writeLoneConfig } from '../support/programs/lone-agent.ts';
import { createPluggedPort, type PluggedPort } from '../support/serial/plugged-port.ts';

const { missing } = requires({ commands: ['socat'], debian: ['socat'] });

let folder: string;
let path: string;
let level: number;
let socket: PluggedPort;
let senders: LlsSenders;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-lls-'));
  path = join(folder, 'sender');
  level = 0.5;
  if (missing !== null) return;
  socket = createPluggedPort({ folder, path, onBytes: (bytes) => senders.receive(bytes) });
  senders = createLlsSenders({
    clock: createSystemClock(),
    level: () => level,
    send: (bytes) => socket.send(bytes),
  });
  cleanups.push(() => senders.close(), socket.unplug);
  await socket.plug();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
  rmSync(folder, { recursive: true, force: true });
});

const port = { dataBits: 8, parity: 'none', stopBits: 1, baudRate: 19_200 } as const;
const configOf = () => ({
  port: { path, ...port },
  addresses: [1],
  full: 4095,
  table: [
    [0, 0],
    [4095, 1],
  ] as [number, number][],
});

describe.skipIf(missing !== null)(`a digital fuel sender${missing === null ? '' : ` [${missing}]`}`, () => {
  it('is in the status of the agent, with its level and temperature, and is found again after a replug', async () => {
    const config = writeLoneConfig(folder, `[fuelSender]\nport = "${path}"\n`);
    const agent = startProgram('agent', ['start', '--config', config]);
    cleanups.unshift(() => agent.signal('SIGKILL'));
    await waitUntil('the port', () => agent.lines.some(({ msg }) => msg === 'fuel_sender_open'));
    const shown = async (): Promise<VehicleStatus['fuelSender']> =>
      (JSON.parse(await loneStatus(folder)) as { vehicle: VehicleStatus }).vehicle.fuelSender;
    await waitUntil('the level', async () => (await shown())?.level === 2048 / 4095);
    expect(await shown()).toMatchObject({
      portFault: '',
      fault: null,
      senders: [{ address: 1, raw: 2048, temperatureC: 21 }],
      noise: 0,
    });
    senders.setFault('noise');
    level = 0.25;
    await waitUntil('the next level', async () => (await shown())?.level === 1024 / 4095);
    await socket.unplug();
    await waitUntil('the loss', async () => (await shown())?.fault === 'port');
    expect((await shown())?.level).toBeNull();
    await socket.plug();
    await waitUntil('the level again', async () => (await shown())?.level === 1024 / 4095);
    expect(Object.keys(senders.commands())).toEqual(['6']);
  });

  it('is checked by the doctor, which names what is wrong', async () => {
    const config = writeLoneConfig(folder, `[fuelSender]\nport = "${path}"\n`);
    const found = async (): Promise<unknown> => {
      const doctor = startProgram('agent', ['doctor', '--json', '--config', config]);
      cleanups.unshift(() => doctor.signal('SIGKILL'));
      await waitUntil('the doctor', () => doctor.lines.some((line) => 'results' in line));
      const [told] = doctor.lines as unknown as { results: { id: string }[] }[];
      return told?.results.find(({ id }) => id === 'fuel-sender');
    };
    expect(await found()).toMatchObject({
      verdict: 'ok',
      seen: '50.0 % (address 1: 2048 at 21 °C)',
    });
    senders.setFault('address');
    expect(await found()).toMatchObject({
      verdict: 'fault',
      seen: 'no answer from address 1; address 7 answers, and is not in fuelSender.addresses',
    });
  });

  it('calibrates a tank, and keeps the points when the port is gone', async () => {
    const output = new PassThrough();
    let said = '';
    output.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    const io = {
      profile: await readBoardProfile('waveshare-relay-d'),
      port: { path: join(folder, 'no-board'), ...port },
      fuelSender: configOf(),
      clock: createSystemClock(),
      openByteLink: openSerialPort,
      plan: null,
      answers: JSON.stringify({
        capacityL: 300,
        mode: 'fill',
        startL: 0,
        steps: [100, 200],
        settleS: 2,
        stepS: 7200,
      }),
      progressPath: join(folder, 'progress.json'),
      input: new PassThrough(),
      output,
      stopped: new Promise<void>(() => undefined),
    };
    const points = (): number => {
      try {
        return (JSON.parse(readFileSync(io.progressPath, 'utf8')) as { points: unknown[] }).points.length;
      } catch {
        return 0;
      }
    };
    level = 0.02;
    const first = fuelCalibrate(io);
    const gone = expect(first).rejects.toMatchObject({
      code: 'serial',
      message: expect.stringContaining(path) as string,
    });
    await waitUntil('the first point', () => points() === 1, { seen: () => said });
    await socket.unplug();
    await gone;
    await socket.plug();
    const running = fuelCalibrate(io);
    level = 0.5;
    await waitUntil('the second point', () => points() === 2, { seen: () => said });
    level = 1;
    expect(await running).toMatchObject({
      kind: 'done',
      table: [
        [82, 0],
        [2048, 0.3333],
        [4095, 1],
      ],
    });
    expect(said).toContain('[fuelSender]\ntable = [\n  [82, 0],');
  });

  it('is at the bench too, with the faults of its line', async () => {
    const bench = await startBenchProgram(folder, 'waveshare-io-analog', [
      '--link-fuel',
      join(folder, 'fuel'),
    ]);
    cleanups.unshift(() => bench.close());
    let last: LlsReading | null = null;
    const seen = (): LlsReading | null => last;
    const reader = startLlsReader({
      config: { ...configOf(), port: { path: join(folder, 'fuel'), ...port } },
      clock: createSystemClock(),
      openByteLink: openSerialPort,
      log: { info: () => undefined, warn: () => undefined },
      onReading(reading) {
        last = reading;
      },
    });
    cleanups.unshift(() => reader.close());
    await bench.command('fuel 0.4');
    await waitUntil('the level', () => seen()?.senders[0]?.value === 1638);
    await bench.command('sender code');
    await waitUntil('the fault', () => seen()?.fault === 'no_level');
    await bench.command('sender none');
    await waitUntil('the level again', () => seen()?.fault === null);
  });
});
