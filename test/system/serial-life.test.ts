// The agent as a real process whose serial ports misbehave: paths that are no ports, an adapter that is plugged in under another
// name, a receiver that babbles. Whatever one port does, the other and the broker must not notice.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSerialPort } from '../../agent/adapters/serial-port.ts';
import type { InputName } from '../../src/core/events/event.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { requires } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import {
  type Api,
  createBrokerSetup,
  openApi,
  type Program,
  provision,
  runProgram,
  startBroker,
  startProgram,
  writeAgentConfig,
} from '../support/programs/fleet-processes.ts';
import { type GnssSource, openGnssSource } from '../support/serial/gnss-source.ts';
import { type PtyPair, ptyPair, serial } from '../support/serial/pty-bus.ts';
import { point, type SerialBoard, serialBoard } from '../support/serial/serial-board.ts';

const { missing } = requires({ commands: ['socat', 'mkfifo'], debian: ['socat', 'coreutils'] });

interface Device {
  readonly deviceLastValidGPSTimestamp?: number;
  readonly sensors: Readonly<Record<string, { readonly state: string }>>;
}

describe.skipIf(missing !== null)(
  `an agent and its serial ports${missing === null ? '' : ` [${missing}]`}`,
  () => {
    const setup = createBrokerSetup('life');
    const { folder } = setup;
    const name = `${folder}/fleet-board`;
    const gnssName = `${folder}/fleet-gnss`;
    let agent: Program;
    let api: Api;
    let hardware: SerialBoard;
    let gnssBus: PtyPair;
    let gnss: GnssSource;
    let checked = '';
    const cleanups: (() => unknown)[] = [];
    const seen = (): string => JSON.stringify(agent.lines.slice(-10));

    const entries = async (): Promise<readonly { statusCode: string }[]> => {
      const path = '/eventdata/devicemetadata/truck-1/0/0/authorization';
      return (await api.get<{ metadata: readonly { statusCode: string }[] }>(path)).metadata;
    };
    const count = async (status: keyof typeof statusCodes): Promise<number> =>
      (await entries()).filter(({ statusCode }) => Number(statusCode) === statusCodes[status].code).length;
    /** Waits for one more event of this kind at the broker than there were. */
    const more = (status: keyof typeof statusCodes, before: number) =>
      waitUntil(`a further ${status}`, async () => (await count(status)) > before, { everyMs: 100, seen });
    const sees = (input: InputName, state: string) => {
      const device = () => api.get<Device>('/device/getdevice/truck-1/authorization');
      const isSo = async () => (await device()).sensors[input]?.state === state;
      return waitUntil(`${input} to be ${state}`, isSo, { everyMs: 100, seen });
    };
    /** A contact that closes reaches the broker: board, agent, disk and MQTT all work. */
    const press = async (input: InputName, status: keyof typeof statusCodes): Promise<void> => {
      const before = await count(status);
      hardware.board.setSignal(input, true);
      await more(status, before);
      hardware.board.setSignal(input, false);
      await sees(input, '0');
    };
    const reasons = (port: string): string[] =>
      agent.lines
        .filter((line) => line.msg === 'port_open_failed' && line['port'] === port)
        .map((line) => String(line['reason']));
    const plugGnss = async (): Promise<void> => {
      gnssBus = await ptyPair(folder, `gnss${performance.now().toFixed(0)}`);
      cleanups.unshift(gnssBus.close);
      gnss = await openGnssSource(gnssBus.far);
      cleanups.unshift(gnss.close);
      gnss.stand(43.65, -79.35);
      point(gnssName, gnssBus.near);
    };
    const unplugGnss = async (): Promise<void> => {
      await gnss.close();
      await gnssBus.close();
    };

    beforeAll(async () => {
      const identity = provision(setup, 'truck-1');
      const broker = await startBroker(setup);
      cleanups.unshift(() => broker.signal('SIGKILL'));
      api = await openApi(setup);
      hardware = serialBoard(folder, name);
      cleanups.unshift(() => hardware.close());
      await plugGnss();
      const config = writeAgentConfig({ ...setup, ...identity, boardPort: name, gnssPort: gnssName });
      checked = runProgram('agent', ['config', 'check', '--config', config]);
      agent = startProgram('agent', ['start', '--config', config]);
      cleanups.unshift(() => agent.signal('SIGKILL'));
    });

    afterAll(async () => {
      for (const cleanup of cleanups) await cleanup();
      rmSync(folder, { recursive: true, force: true });
    });

    it('is warned of a panic button that is read too seldom at 9600 baud', () => {
      expect(checked).toContain('agent.toml: good');
      expect(checked).toMatch(/WARNING: a panic press of 50 ms could be missed at 9600 baud/);
    });

    it('reports a board port that is no port, tries it for ever, and disturbs no other part', async () => {
      await waitUntil('the missing port', () => reasons('board').at(-1)?.includes('is not there') === true, {
        seen,
      });
      mkdirSync(`${folder}/directory`);
      writeFileSync(`${folder}/file`, '');
      execFileSync('mkfifo', [`${folder}/fifo`]);
      for (const kind of ['directory', 'file', 'fifo']) {
        point(name, join(folder, kind));
        await waitUntil(kind, () => reasons('board').at(-1) === `${name} is not a serial port`, { seen });
        rmSync(name);
        await waitUntil('nothing', () => reasons('board').at(-1)?.includes('is not there') === true, {
          seen,
        });
      }
      const taken = await ptyPair(folder, 'taken');
      cleanups.unshift(taken.close);
      const holder = await openSerialPort(serial(taken.near), { onBytes() {}, onDown() {} });
      point(name, taken.near);
      await waitUntil(
        'the lock',
        () => reasons('board').at(-1)?.includes('in use by another program') === true,
        { seen },
      );
      await holder.close();
      await taken.close();
      // Meanwhile positions and the loss itself arrive.
      await more('BOARD_LOST', 0);
      await more('LOCATION', 0);
      expect(agent.exitCode()).toBe(null);
    });

    it('is polled as soon as it is there, and under another name as soon as it is there again', async () => {
      await hardware.plug();
      await waitUntil('the first request', () => hardware.board.counts().requests > 0, { seen });
      await press('panic', 'PANIC_ON');
      await more('BOARD_RESTORED', 0);
      const lost = await count('BOARD_LOST');
      await hardware.unplug();
      await more('BOARD_LOST', lost);
      const fixes = await count('LOCATION');
      await more('LOCATION', fixes);
      const { requests } = hardware.board.counts();
      await hardware.plug();
      await waitUntil('polling after the replug', () => hardware.board.counts().requests > requests, {
        seen,
      });
      await press('panic', 'PANIC_ON');
      expect(hardware.board.relayLog().changes).toEqual([]);
    });

    it('a receiver that floods the line delays no panic, and is read when it recovers', async () => {
      const flood = spawn('sh', ['-c', 'exec tr -d "\\n" </dev/urandom >"$1"', 'sh', gnssBus.far], {
        stdio: 'ignore',
      });
      const floodEnd = new Promise((resolve) => flood.once('exit', resolve));
      try {
        for (let round = 0; round < 3; round += 1) await press('panic', 'PANIC_ON');
        expect(flood.exitCode).toBe(null);
      } finally {
        flood.kill('SIGKILL');
        await floodEnd;
      }
      const before = await count('LOCATION');
      await more('LOCATION', before);
    });

    it('goes on with the board when the receiver is gone, and finds it under another name', async () => {
      await unplugGnss();
      await waitUntil(
        'the loss of the receiver',
        () => agent.lines.some((line) => line.msg === 'port_lost' && line['port'] === 'gnss'),
        { seen },
      );
      await press('panic', 'PANIC_ON');
      const opened = agent.lines.filter((line) => line.msg === 'port_open').length;
      await plugGnss();
      await waitUntil(
        'the receiver',
        () => agent.lines.filter((line) => line.msg === 'port_open').length > opened,
        { seen },
      );
      const before = await count('LOCATION');
      await more('LOCATION', before);
    });

    it('stops in good order', async () => {
      agent.signal('SIGTERM');
      expect(await agent.ended()).toBe(0);
      expect(agent.complaints()).toBe('');
    });
  },
);
