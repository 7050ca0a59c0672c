// The simulator against a broker that somebody else started, with TLS and an authority of its own: it passes, cleans up, says what is
// wrong with an address, a password or a key and what to do, and records traffic that it can send again.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { generateSigningKey } from '../../src/adapters/signing.ts';
import { createOwnAuthority } from '../support/broker/own-authority.ts';
import { freePort } from '../support/machine/free-port.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';
import {
  isSimulatorBuilt,
  killSimulators,
  simulate,
  simulatorNote,
  simulatorProgram,
} from '../support/programs/simulator-program.ts';

const folder = temporaryFolder('target');
const broker = createBrokerProgram(folder);
const at = (name: string): string => join(folder, name);
const password = 'correct horse battery staple';

let flags: Readonly<Record<string, string>> = {};
const flagsWith = (change: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.entries({ ...flags, ...change }).flatMap(([name, value]) => [`--${name}`, value]);

/** Devices at the broker that a run has created. */
async function devicesLeft(): Promise<number> {
  const { out } = await broker.run(['account', 'show', 'acme', '--json', '--database', 'fleet.db']);
  return Number(/"deviceCount":\s*(\d+)/.exec(out)?.[1] ?? -1);
}

async function start(): Promise<void> {
  const authority = createOwnAuthority(folder);
  const { certFile, keyFile } = authority.server('localhost,127.0.0.1');
  const account = [
    'account',
    'create',
    'acme',
    '--admin',
    'ann',
    '--password-file',
    '-',
    '--database',
    'fleet.db',
  ];
  const made = await broker.run(account, `${password}\n`);
  if (made.code !== 0) throw new Error(made.err);
  const device = await broker.run([
    'device',
    'create',
    'acme',
    'truck-1',
    '--json',
    '--database',
    'fleet.db',
  ]);
  const { publicKey } = JSON.parse(device.out) as { readonly publicKey: string };
  const [http, mqtt] = [await freePort(), await freePort()];
  const tls = ['http', 'mqtt'].flatMap((name) => [
    `--${name}-tls-cert-file`,
    certFile,
    `--${name}-tls-key-file`,
    keyFile,
  ]);
  const { output } = broker.launch([
    'start',
    '--database',
    'fleet.db',
    '--http-port',
    `${http}`,
    '--mqtt-port',
    `${mqtt}`,
    ...tls,
  ]);
  const said = (): string => output.out + output.err;
  await waitUntil('the broker', () => said().includes('broker_ready'), { seen: said });
  writeFileSync(at('password'), `${password}\n`);
  flags = {
    target: `https://localhost:${http}`,
    mqtt: `mqtts://localhost:${mqtt}`,
    account: 'acme',
    user: 'ann',
    'password-file': at('password'),
    'public-key': publicKey,
    ca: authority.caFile,
  };
}

const scenario = at('fleet.toml');
writeFileSync(
  scenario,
  `title = "a test"
durationS = 8
drainS = 40
[fleet]
devices = 3
connectSpreadS = 1
[actions]
doorPerHour = 700
[[faults]]
kind = "agent-kill"
atS = 4
forS = 1
share = 0.4
`,
);

afterAll(() => {
  killSimulators();
  broker.killAll();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!isSimulatorBuilt)(`a run against a broker that is there${simulatorNote}`, () => {
  beforeAll(start);

  it('passes over TLS, and deletes its files and the devices that it created', async () => {
    const { code, text } = await simulate(['run', scenario, ...flagsWith(), '--state', at('passed')]);
    expect([code, text]).toEqual([0, expect.stringContaining('PASSED')]);
    expect(text).toContain('The devices are removed');
    expect(await devicesLeft()).toBe(1);
    expect(existsSync(at('passed'))).toBe(false);
  });

  it('records the traffic of light trackers without their ids, and replays it ten times as fast', async () => {
    const from = new Date(Date.now() - 2000).toISOString();
    const light = ['--kind', 'tracker', '--devices', '20', '--duration', '20'];
    const source = at('light.toml');
    writeFileSync(source, 'title = "a test"\n[fleet]\ntrackerEveryS = 2\nconnectSpreadS = 1\n');
    const first = await simulate(['run', source, ...flagsWith(), ...light, '--no-clean']);
    expect([first.code, first.text]).toEqual([0, expect.stringContaining('PASSED')]);
    const file = at('day.jsonl');
    const { mqtt: _mqtt, 'public-key': _key, ...login } = flags;
    const asked = Object.entries(login).flatMap(([name, value]) => [`--${name}`, value]);
    const recorded = await simulate(['record', file, ...asked, '--from', from]);
    expect([recorded.code, recorded.text]).toEqual([0, expect.stringContaining('ids scrambled')]);
    const text = readFileSync(file, 'utf8');
    const count = Number(/"end":(\d+)/.exec(text)?.[1]);
    expect(count).toBeGreaterThan(100);
    expect(text).not.toMatch(/sim-|acme/);
    // None of the places where they were.
    expect(text).not.toMatch(/"la":43\.6\d*,"lo":-79\.3/);
    const json = at('replay.json');
    const again = await simulate(['replay', file, ...flagsWith(), '--speed', '10', '--json', json]);
    expect([again.code, again.text]).toEqual([0, expect.stringContaining('PASSED')]);
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({
      isPassed: true,
      devices: 20,
      counts: { events: count, acknowledged: count, shown: count },
    });
    const twice = await simulate(['record', file, ...asked, '--from', from]);
    expect([twice.code, twice.text]).toEqual([64, expect.stringContaining('exists already')]);
  });

  const wrong = async (change: Readonly<Record<string, string>>) =>
    simulate(['run', scenario, ...flagsWith(change)]);

  it('refuses an approver who is the same user', async () => {
    const { code, text } = await wrong({ approver: 'ann', 'approver-password-file': at('password') });
    expect([code, text]).toEqual([64, expect.stringContaining('a cut needs two users')]);
  });

  it('reports a wrong password', async () => {
    writeFileSync(at('wrong'), 'not the password at all\n');
    const { code, text } = await wrong({ 'password-file': at('wrong') });
    expect([code, text]).toEqual([77, expect.stringContaining('--password-file')]);
  });

  it('reports the key of another broker, and deletes the devices that it created', async () => {
    const before = await devicesLeft();
    const { code, text } = await wrong({ 'public-key': generateSigningKey().publicKey });
    expect([code, text]).toEqual([64, expect.stringContaining('--public-key is not the key of this broker')]);
    const none = await wrong({ 'public-key': 'nonsense' });
    expect([none.code, none.text]).toEqual([64, expect.stringContaining('--public-key is not a key')]);
    // Both had made their devices before they failed.
    expect(text).toContain('Creating 3 devices');
    expect(await devicesLeft()).toBe(before);
  });

  it('reports a missing MQTT listener, and one without TLS', async () => {
    const closed = await wrong({ mqtt: `mqtts://localhost:${await freePort()}` });
    expect(closed.code).toBe(75);
    expect(closed.text).toMatch(/No vehicle can connect to mqtts:.*\n.*Does its MQTT listener use TLS/);
    const plain = await wrong({ mqtt: (flags['mqtt'] ?? '').replace('mqtts:', 'mqtt:') });
    expect(plain.text).toMatch(/No vehicle can connect to mqtt:.*\n.*without TLS/);
  });

  it('reports an address at which nothing listens, and one at which nothing answers, within seconds', async () => {
    const began = Date.now();
    const closed = await wrong({ target: `https://localhost:${await freePort()}` });
    expect([closed.code, closed.text]).toEqual([
      75,
      expect.stringContaining('Is there a Fleetward broker at'),
    ]);
    const silent = createSocketServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const { port } = silent.address() as AddressInfo;
    const mute = await wrong({ target: `http://127.0.0.1:${port}` });
    silent.close();
    expect([mute.code, mute.text]).toEqual([75, expect.stringContaining('no answer within 10 s')]);
    expect(Date.now() - began).toBeLessThan(45_000);
  });

  it('reports the port of the MQTT listener as one that speaks no HTTP', async () => {
    const { code, text } = await wrong({ target: (flags['mqtt'] ?? '').replace('mqtts:', 'https:') });
    expect([code, text]).toEqual([75, expect.stringContaining('Is there a Fleetward broker at')]);
  });

  it('reports a certificate of an authority that is not trusted', async () => {
    const { ca: _ca, ...rest } = flags;
    const asked = Object.entries(rest).flatMap(([name, value]) => [`--${name}`, value]);
    const { code, text } = await simulate(['run', scenario, ...asked]);
    expect([code, text]).toEqual([75, expect.stringContaining('--ca')]);
  });

  it('reports an address that is not a Fleetward broker', async () => {
    const other = createServer((_request, response) => response.end('<html>Welcome to nginx</html>'));
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address() as AddressInfo;
    const { code, text } = await wrong({ target: `http://127.0.0.1:${port}` });
    other.close();
    expect([code, text]).toEqual([64, expect.stringContaining('not as a Fleetward broker')]);
    const none = await wrong({ target: 'localhost:8080' });
    expect([none.code, none.text]).toEqual([64, expect.stringContaining('is not http://… or https://…')]);
  });

  it.each([
    ['a second Ctrl-C', 130, (child: ChildProcess) => child.kill('SIGINT')],
    ['the end of the reader of its output', 141, (child: ChildProcess) => child.stdout?.destroy()],
  ])(
    'names the files and devices that %s leaves, and how to delete the devices',
    async (_what, code, act) => {
      const before = await devicesLeft();
      const state = at(`left-${code}`);
      const args = [simulatorProgram, 'run', scenario, ...flagsWith(), '--state', state];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      let [said, complaints] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
      await waitUntil('its vehicles', () => said.includes('online'), { seen: () => said });
      child.kill('SIGINT');
      await waitUntil('its answer', () => said.includes('a second signal ends at once'), {
        seen: () => said,
      });
      act(child);
      const ended = await new Promise<number | null>((done) => child.once('close', done));
      expect([ended, said]).toEqual([code, expect.not.stringContaining('The devices are removed')]);
      expect(complaints).toContain(`Files of the run are left in ${state}`);
      expect(complaints).toMatch(/3 devices of the run may be left at https:.*: (sim-\w+-0000\d(, |\n)){3}/);
      expect(complaints).toContain('POST /api/v1/device/deletedevices/authorization');
      expect(await devicesLeft()).toBe(before + 3);
    },
  );
});
