// A tracker that is not ours: mosquitto_pub with a device's secret publishes JSON events, an app reads them over HTTP.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { requires } from '../support/machine/requires.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import {
  type Api,
  createBrokerSetup,
  openApi,
  type Program,
  provision,
  runProgram,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const { missing } = requires({ commands: ['mosquitto_pub'], debian: ['mosquitto-clients'] });
const title = `a tracker with mosquitto_pub${missing === null ? '' : ` (${missing})`}`;

interface Records {
  readonly eventdata: {
    readonly devices: readonly {
      readonly statusCode: number;
      readonly latitude: number;
      readonly timestamp: number;
    }[];
  };
}

describe.skipIf(missing !== null)(title, () => {
  const setup = createBrokerSetup('tracker');
  const { folder } = setup;
  let broker: Program;
  let api: Api;
  let secret = '';

  // -l: one message a line, all over one connection.
  const options = (topic: string): readonly string[] =>
    `-h 127.0.0.1 -p ${setup.mqttPort} -q 1 -i demo/tracker-1 -u demo/tracker-1 -P ${secret} -t ${topic} -l`.split(
      ' ',
    );
  const publish = (topic: string, input: string) =>
    spawnSync('mosquitto_pub', options(topic), { input, encoding: 'utf8', timeout: hangMs });
  const topic = 'fleet/v1/demo/tracker-1/events';
  const nowS = Math.floor(Date.now() / 1000);
  const latest = () => api.get<Records>('/eventdata/latest/tracker-1/authorization');

  beforeAll(async () => {
    ({ secret } = provision(setup, 'tracker-1'));
    broker = await startBroker(setup);
    api = await openApi(setup);
  });

  afterAll(async () => {
    broker?.signal('SIGTERM');
    await broker?.ended();
    rmSync(folder, { recursive: true, force: true });
  });

  it('publishes a batch and a bare event, and reads them back', async () => {
    const batch = {
      boot: 'b1',
      events: [
        {
          seq: 1,
          timestamp: nowS - 60,
          statusCode: 61_472,
          latitude: 43.65107,
          longitude: -79.34702,
          speed: 54,
        },
      ],
    };
    const bare = {
      timestamp: nowS - 30,
      statusCode: statusCodes.PANIC_ON.code,
      latitude: 43.7,
      longitude: -79.4,
    };
    const result = publish(topic, `${JSON.stringify(batch)}\n${JSON.stringify(bare)}\n`);
    expect(result.stderr).toBe('');
    expect(result.status).toBe(0);
    const { eventdata } = await latest();
    expect(eventdata.devices[0]).toMatchObject({
      statusCode: statusCodes.PANIC_ON.code,
      latitude: 43.7,
      timestamp: nowS - 30,
    });
    const { metadata } = await api.get<{ metadata: { statusCode: string; latitude: string }[] }>(
      '/eventdata/devicemetadata/tracker-1/0/0/authorization',
    );
    expect(metadata.map((entry) => [entry.statusCode, entry.latitude])).toEqual([
      ['61472', '43.65107'],
      ['63553', '43.70000'],
    ]);
  });

  it('stays connected after undecodable payloads, which are quarantined', async () => {
    const good = {
      boot: 'b1',
      events: [{ seq: 2, timestamp: nowS - 10, statusCode: statusCodes.IGNITION_ON.code }],
    };
    const bad = [
      '{"boot":',
      '{"boot":"b1","events":[{"seq":3}]}',
      'hello',
      '{"timestamp":1,"statusCode":70000}',
    ];
    const result = publish(topic, `${[...bad, JSON.stringify(good)].join('\n')}\n`);
    expect(result.status).toBe(0);
    const all = await api.get<Records>('/eventdata/devicedata/tracker-1/0/0/authorization');
    expect(all.eventdata.devices.at(-1)?.statusCode).toBe(statusCodes.IGNITION_ON.code);
    expect(broker.lines.filter((line) => line.msg === 'payload_quarantined')).toHaveLength(bad.length);
  });

  it('is stored once, however often it is sent', async () => {
    const before = await api.get<{ metadata: object[] }>(
      '/eventdata/devicemetadata/tracker-1/0/0/authorization',
    );
    const again = {
      boot: 'b1',
      events: [{ seq: 2, timestamp: nowS - 10, statusCode: statusCodes.IGNITION_ON.code }],
    };
    expect(publish(topic, `${JSON.stringify(again)}\n${JSON.stringify(again)}\n`).status).toBe(0);
    const after = await api.get<{ metadata: object[] }>(
      '/eventdata/devicemetadata/tracker-1/0/0/authorization',
    );
    expect(after.metadata).toHaveLength(before.metadata.length);
  });

  it("is refused another device's topic and a wrong secret", async () => {
    runProgram('broker', ['device', 'create', 'demo', 'tracker-2', '--database', `${folder}/fleet.db`]);
    const event = JSON.stringify({ timestamp: nowS, statusCode: 61_472, latitude: 1, longitude: 2 });
    // Refused means disconnected; this client then tries again until it is ended.
    const client = spawn('mosquitto_pub', options('fleet/v1/demo/tracker-2/events'), {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    const ended = once(client, 'exit');
    try {
      client.stdin.end(`${event}\n`);
      await waitUntil('a second refusal', () => {
        if (client.exitCode !== null) throw new Error(`mosquitto_pub ended with ${client.exitCode}`);
        return broker.lines.filter(({ msg }) => msg === 'publish_refused').length >= 2;
      });
    } finally {
      client.kill('SIGKILL');
      await ended;
    }
    const { eventdata } = await api.get<Records>('/eventdata/latest/tracker-2/authorization');
    expect(eventdata.devices).toEqual([]);
    const args = [
      '-h',
      '127.0.0.1',
      '-p',
      String(setup.mqttPort),
      '-i',
      'demo/tracker-1',
      '-u',
      'demo/tracker-1',
    ];
    expect(() =>
      execFileSync('mosquitto_pub', [...args, '-P', 'wrong', '-t', topic, '-m', event], { stdio: 'pipe' }),
    ).toThrow(/not authorised|bad user name or password/i);
  });
});
