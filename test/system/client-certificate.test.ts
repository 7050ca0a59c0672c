// A vehicle's own certificate, from the enrolment to a server that admits no client without one: mosquitto with
// `require_certificate true`, which takes the name of the device from the certificate.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { createAuthority } from '../support/broker/certificates.ts';
import { freePort } from '../support/machine/free-port.ts';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import {
  createBrokerSetup,
  type Program,
  provision,
  runProgram,
  startBroker,
  startProgram,
} from '../support/programs/fleet-processes.ts';

const tools = requires({ commands: ['mosquitto', 'openssl'], debian: ['mosquitto', 'openssl'] });
const why = tools.missing ?? whyNotBuilt('agent');

describe.skipIf(why !== null)(`a client certificate ${why ?? ''}`, () => {
  const setup = createBrokerSetup('mtls');
  const { folder } = setup;
  const config = join(folder, 'agent.toml');
  let mosquitto: ChildProcess | null = null;
  let broker: Program;
  let agent: Program | null = null;
  let port = 0;

  beforeAll(async () => {
    const authority = createAuthority(folder);
    chmodSync(join(folder, 'ca.key'), 0o600);
    const { certFile, keyFile } = authority.issue('localhost', 2);
    port = await freePort();
    writeFileSync(
      join(folder, 'mosquitto.conf'),
      `listener ${port} 127.0.0.1
cafile ${authority.caFile}
certfile ${certFile}
keyfile ${keyFile}
require_certificate true
use_identity_as_username true
acl_file ${join(folder, 'acl')}
user root
`,
    );
    writeFileSync(join(folder, 'acl'), 'user demo/van-01\ntopic readwrite fleet/v1/demo/van-01/#\n', {
      mode: 0o600,
    });
    mosquitto = spawn('mosquitto', ['-c', join(folder, 'mosquitto.conf')], { stdio: 'ignore' });
    provision(setup, 'van-01');
    broker = await startBroker(setup, [
      `--enrolment-ca-cert-file=${authority.caFile}`,
      `--enrolment-ca-key-file=${join(folder, 'ca.key')}`,
      `--enrolment-mqtt-urls=mqtts://localhost:${port}`,
      `--enrolment-mqtt-ca-file=${authority.caFile}`,
    ]);
    const isUp = (): Promise<boolean> => {
      if (mosquitto?.exitCode !== null) throw new Error('mosquitto did not start');
      return new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
        socket.on('connect', () => socket.destroy());
      });
    };
    await waitUntil('mosquitto', isUp, { everyMs: 50 });
  });

  afterAll(async () => {
    for (const program of [agent, broker]) program?.signal('SIGKILL');
    mosquitto?.kill('SIGKILL');
    await Promise.all([agent?.ended(), broker?.ended()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('comes with the enrolment, opens the server, and nothing else does', async () => {
    const database = ['--database', join(folder, 'fleet.db')];
    const { code } = JSON.parse(
      runProgram('broker', ['device', 'code', 'demo', 'van-01', '--json', ...database]),
    ) as {
      code: string;
    };
    writeFileSync(
      config,
      `[broker]\nconnectSpreadS = 0\n[storage]\npath = "${folder}/outbox.db"\n[board]\nprofile = "generic"\nport = "${folder}/none"\n[gnss]\nport = "${folder}/nowhere"\n`,
    );
    const url = `http://127.0.0.1:${setup.httpPort}`;
    const enrolled = startProgram('agent', [
      'enrol',
      '--broker',
      url,
      '--code',
      code,
      '--config',
      config,
      '--certificate',
      '--json',
    ]);
    expect([await enrolled.ended(), enrolled.complaints()]).toEqual([0, '']);
    expect(enrolled.lines[0]).toMatchObject({ url: `mqtts://localhost:${port}`, missing: null });

    const pem = (name: string) => readFileSync(join(folder, name), 'utf8');
    const topics: string[] = [];
    const open = (own: { readonly cert?: string; readonly key?: string }, clientId: string) => {
      const seen = { ups: 0, downs: [] as string[] };
      const link = openMqttLink(
        {
          url: `mqtts://localhost:${port}`,
          clientId,
          username: 'demo/van-01',
          password: 'nothing that mosquitto would take',
          keepaliveS: 60,
          connectTimeoutMs: hangMs,
          will: { topic: 'fleet/v1/demo/van-01/presence', payload: new Uint8Array(), qos: 1 },
          ca: pem('broker-ca.pem'),
          ...own,
        },
        {
          onUp: () => void (seen.ups += 1),
          onMessage: ({ topic }, acknowledge) => {
            topics.push(topic);
            acknowledge();
          },
          onDown: (reason) => seen.downs.push(reason),
        },
      );
      return { seen, link };
    };
    const without = open({}, 'nobody');
    await waitUntil('the refusal', () => without.seen.downs.length > 0);
    expect(without.seen.ups).toBe(0);

    const listener = open({ cert: pem('client-cert.pem'), key: pem('client-key.pem') }, 'listener');
    await waitUntil('the connection', () => listener.seen.ups > 0);
    await listener.link.subscribe(['fleet/v1/demo/van-01/hello']);
    agent = startProgram('agent', ['start', '--config', config]);
    await waitUntil('the hello of the agent', () => topics.length > 0);
    expect(topics[0]).toBe('fleet/v1/demo/van-01/hello');
    await listener.link.close();
  });

  it('is not taken by the agent when others can read its key, or when one half is missing', async () => {
    const check = async () => {
      const program = startProgram('agent', ['config', 'check', '--config', config]);
      return [await program.ended(), program.complaints()];
    };
    expect((await check())[0]).toBe(0);
    chmodSync(join(folder, 'client-key.pem'), 0o640);
    expect(await check()).toEqual([78, expect.stringContaining('can be read by others')]);
    writeFileSync(config, readFileSync(config, 'utf8').replace(/^keyFile.*$/m, ''));
    expect(await check()).toEqual([78, expect.stringContaining('belong together')]);
  });
});
