// TLS as an operator sets it up and a vehicle meets it: the built broker with certificates of its own `ca` command, the built agent,
// mosquitto, curl and openssl as clients, a real SIGHUP.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import { createAuthority } from '../support/broker/certificates.ts';
import { createOwnAuthority, type OwnCertificate } from '../support/broker/own-authority.ts';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import {
  type BrokerSetup,
  createBrokerSetup,
  type LogLine,
  type Program,
  provision,
  runProgram,
  startBroker,
  startProgram,
} from '../support/programs/fleet-processes.ts';

const commands = ['openssl', 'mosquitto_pub', 'mosquitto_sub', 'curl'];
const tools = requires({ commands, debian: ['openssl', 'mosquitto-clients', 'curl'] });
const why = tools.missing ?? whyNotBuilt('broker');
const topic = 'fleet/v1/demo/van-01/events';

describe.skipIf(why !== null)(`a fleet on TLS ${why ?? ''}`, () => {
  const setup = createBrokerSetup('tls');
  const { folder } = setup;
  const database = ['--database', join(folder, 'fleet.db')];
  const certFile = join(folder, 'listener.crt.pem');
  const keyFile = join(folder, 'listener.key.pem');
  let authority: ReturnType<typeof createOwnAuthority>;
  let server: OwnCertificate;
  let device: OwnCertificate;
  let identity: { secret: string; publicKey: string };
  let broker: Program;
  let agent: Program | null = null;
  let events = 0;

  const use = (certificate: OwnCertificate): void => {
    copyFileSync(certificate.certFile, certFile);
    copyFileSync(certificate.keyFile, keyFile);
    chmodSync(keyFile, 0o600);
  };
  const tlsFlags = (name: string) => [
    `--${name}-tls-cert-file=${certFile}`,
    `--${name}-tls-key-file=${keyFile}`,
  ];

  beforeAll(async () => {
    identity = provision(setup, 'van-01');
    authority = createOwnAuthority(folder);
    server = authority.server('localhost,127.0.0.1');
    device = authority.device('demo', 'van-01');
    use(server);
    broker = await startBroker(setup, [
      ...tlsFlags('mqtt'),
      ...tlsFlags('http'),
      `--mqtt-tls-client-ca-file=${authority.caFile}`,
      '--mqtt-tls-client-cert=optional',
      '--mqtt-tls-client-secret=optional',
      `--enrolment-ca-cert-file=${authority.caFile}`,
      `--enrolment-ca-key-file=${authority.caKeyFile}`,
      `--enrolment-mqtt-ca-file=${authority.caFile}`,
    ]);
  });

  const others: Program[] = [];
  afterEach(async () => {
    for (const program of [agent, ...others.splice(0)]) {
      program?.signal('SIGKILL');
      await program?.ended();
    }
    agent = null;
  });
  const startOther = async (...args: Parameters<typeof startBroker>): Promise<Program> => {
    const other = await startBroker(...args);
    others.push(other);
    return other;
  };
  afterAll(async () => {
    broker?.signal('SIGKILL');
    await broker?.ended();
    rmSync(folder, { recursive: true, force: true });
  });

  const said = (program: Program, msg: string): readonly LogLine[] =>
    program.lines.filter((line) => line.msg === msg);
  const publish = (...args: readonly string[]) => {
    const address = ['-h', 'localhost', '-p', String(setup.mqttPort)];
    const user = ['-i', 'demo/van-01', '-u', 'demo/van-01', '-q', '1', '-t', topic];
    events += 1;
    const event = `{"timestamp":${1_767_614_400 + events},"statusCode":61472}`;
    return spawnSync('mosquitto_pub', [...address, ...user, '-m', event, ...args], { timeout: hangMs })
      .status;
  };
  const own = () => ['--cafile', authority.caFile, '--cert', device.certFile, '--key', device.keyFile];

  it('accepts an event of mosquitto with a secret or a certificate, and none with neither', () => {
    const trust = ['--cafile', authority.caFile];
    expect(publish(...trust, '-P', identity.secret)).toBe(0);
    expect(publish(...own())).toBe(0);
    expect(publish(...trust)).not.toBe(0);
    // In the clear on the same port, and with the wrong authority.
    expect(publish('-P', identity.secret)).not.toBe(0);
    mkdirSync(join(folder, 'other'), { recursive: true });
    const foreignAuthority = createAuthority(join(folder, 'other'));
    expect(publish('--cafile', foreignAuthority.caFile, '-P', identity.secret)).not.toBe(0);
    // It ends when its subscription is granted.
    const filter = ['-t', 'fleet/v1/demo/van-01/ack', '-E'];
    const user = ['-h', 'localhost', '-p', String(setup.mqttPort), '-i', 'demo/van-01', '-u', 'demo/van-01'];
    expect(spawnSync('mosquitto_sub', [...user, ...own(), ...filter], { timeout: hangMs }).status).toBe(0);
  });

  it('serves HTTPS to curl, with HSTS, and nothing without it', () => {
    const curl = (...args: readonly string[]) =>
      spawnSync('curl', ['-sS', ...args], { encoding: 'utf8', timeout: hangMs });
    const url = `https://localhost:${setup.httpPort}/livez`;
    const good = curl('-D', '-', '--cacert', authority.caFile, url);
    expect([good.status, good.stdout]).toEqual([0, expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n/)]);
    expect(good.stdout).toMatch(/strict-transport-security: max-age=31536000\r\n/);
    expect(curl(url).stderr).toMatch(/certificate/);
    expect(curl('--cacert', authority.caFile, '--tls-max', '1.1', url).status).not.toBe(0);
    expect(curl(url.replace('https', 'http')).status).not.toBe(0);
    const other = [
      '--resolve',
      `other.example:${setup.httpPort}:127.0.0.1`,
      url.replace('localhost', 'other.example'),
    ];
    expect(curl('--cacert', authority.caFile, ...other).stderr).toMatch(/subject name|SSL/);
  });

  it('speaks to openssl from TLS 1.2 on', () => {
    const client = (version: string): string => {
      const to = [
        's_client',
        '-connect',
        `localhost:${setup.mqttPort}`,
        '-CAfile',
        authority.caFile,
        version,
      ];
      const level = ['-cipher', 'DEFAULT:@SECLEVEL=0'];
      const { stdout } = spawnSync('openssl', [...to, ...level], {
        input: '',
        encoding: 'utf8',
        timeout: hangMs,
      });
      return /^New, (\S+), Cipher is (\S+)/m.exec(stdout)?.[2] ?? '';
    };
    for (const version of ['-tls1', '-tls1_1']) expect(client(version), version).toBe('(NONE)');
    for (const version of ['-tls1_2', '-tls1_3']) expect(client(version), version).toMatch(/GCM|CHACHA20/);
  });

  /** Enrols anew over HTTPS, which gives a certificate, and starts the agent with it. */
  const enrol = async (): Promise<void> => {
    const home = mkdtempSync(join(folder, 'agent-'));
    const config = join(home, 'agent.toml');
    writeFileSync(
      config,
      `[broker]\nconnectSpreadS = 0\n[storage]\npath = "${home}/outbox.db"\n[board]\nprofile = "generic"\nport = "${home}/none"\n[gnss]\nport = "${home}/nowhere"\n`,
    );
    const made = runProgram('broker', ['device', 'code', 'demo', 'van-01', '--json', ...database]);
    const { code } = JSON.parse(made) as { code: string };
    const address = ['--broker', `https://localhost:${setup.httpPort}`, '--ca', authority.caFile];
    const enrolled = startProgram('agent', [
      'enrol',
      ...address,
      '--code',
      code,
      '--config',
      config,
      '--certificate',
    ]);
    expect([await enrolled.ended(), enrolled.complaints()]).toEqual([0, '']);
    agent = startProgram('agent', ['start', '--config', config]);
  };
  /** Asks the database until the device is connected, or is not; an agent that is not let in tries again and again. */
  const becomes = async (isOnline: boolean): Promise<void> => {
    const db = openSqlite({ path: join(folder, 'fleet.db'), pageSize: 4096 });
    const isSo = async (): Promise<boolean> =>
      (await findDevice(db, { accountID: 'demo', deviceID: 'van-01' }))?.isOnline === isOnline;
    try {
      await waitUntil(`isOnline ${isOnline}`, isSo, { everyMs: 50 });
    } finally {
      await db.close();
    }
  };
  const reload = async (msg: string): Promise<LogLine> => {
    const before = said(broker, msg).length;
    broker.signal('SIGHUP');
    await waitUntil(msg, () => said(broker, msg).length > before);
    return said(broker, msg).at(-1) ?? expect.fail();
  };
  /** What an attempt of the agent's own link ends with; `up` when it is let in. */
  const link = (changes: object = {}): Promise<string> =>
    new Promise((resolve) => {
      const user = { clientId: 'demo/van-01', username: 'demo/van-01', password: identity.secret };
      const will = { topic: 'fleet/v1/demo/van-01/presence', payload: new Uint8Array(), qos: 1 } as const;
      const to = {
        url: `mqtts://localhost:${setup.mqttPort}`,
        ca: authority.ca,
        keepaliveS: 60,
        connectTimeoutMs: hangMs,
      };
      const opened = openMqttLink(
        { ...to, ...user, will, ...changes },
        {
          onUp: () => {
            resolve('up');
            void opened.close();
          },
          onMessage: () => undefined,
          onDown: resolve,
        },
      );
    });

  it('has its agent online by a certificate from the enrolment, and offline and refused after the revocation', async () => {
    await enrol();
    await becomes(true);
    // What the device had before it enrolled is worth nothing any more.
    expect(publish(...own())).not.toBe(0);
    const listed = JSON.parse(
      runProgram('broker', ['ca', 'list', '--json', '--dir', join(folder, 'ca'), ...database]),
    ) as {
      certificates: { what: string; state: string; serial: string; expires: number }[];
    };
    const expiries = listed.certificates.map(({ expires }) => expires);
    expect(expiries).toEqual(expiries.toSorted((one, other) => one - other));
    // Those of the server and of the device may have been made in one second, and so expire in one: the order is free.
    expect(Object.fromEntries(listed.certificates.map(({ what, state }) => [what, state]))).toEqual({
      'server-localhost': 'good',
      'device-demo.van-01': 'revoked',
      'recorded for demo/van-01': 'good',
      ca: 'good',
    });
    const serial = listed.certificates.find(({ what }) => what.startsWith('recorded'))?.serial ?? '';
    const refusals = said(broker, 'connection_refused').length;
    runProgram('broker', ['ca', 'revoke', '--serial', serial, ...database]);
    await becomes(false);
    await waitUntil('its refusal', () => said(broker, 'connection_refused').length > refusals);
    await becomes(false);
  });

  it('reloads at SIGHUP: the session stays open, new connections get the new certificate', async () => {
    await enrol();
    await becomes(true);
    const ended = () => said(broker, 'connection_closed').length + said(broker, 'connection_failed').length;
    const before = ended();
    identity = JSON.parse(
      runProgram('broker', ['device', 'create', 'demo', 'van-02', '--json', ...database]),
    ) as typeof identity;
    const other = { clientId: 'demo/van-02', username: 'demo/van-02', password: identity.secret };
    const will = { topic: 'fleet/v1/demo/van-02/presence', payload: new Uint8Array(), qos: 1 };
    expect(await link({ ...other, will })).toBe('up');
    use(authority.server('fleet.example.com'));
    expect(await reload('certificates_reloaded')).toMatchObject({ certificates: 5 });
    expect(await link({ ...other, will })).toMatch(/does not match|altnames/);
    // Said after the end of any session by the first reload.
    await reload('certificates_reloaded');
    await becomes(true);
    expect(ended()).toBe(before);
  });

  it('refuses a bad new file with a reason, and keeps using the old one', async () => {
    const attempt = async (): Promise<string> => {
      const line = await reload('certificate_reload_refused');
      return String(line['reason']);
    };
    use(server);
    await reload('certificates_reloaded');
    chmodSync(keyFile, 0o644);
    expect(await attempt()).toMatch(/keyFile .* can be read by others/);
    use(server);
    copyFileSync(authority.caKeyFile, keyFile);
    expect(await attempt()).toMatch(/is not the key of/);
    writeFileSync(certFile, 'nothing');
    expect(await attempt()).toMatch(/holds no certificate/);
    const expired = createAuthority(mkdtempSync(join(folder, 'old-'))).issue('localhost', -1);
    use({ ...expired, serial: '' });
    expect(await attempt()).toMatch(/has expired on/);
    // As far as MQTT, and so through TLS with the certificate from before.
    expect(await link()).toMatch(/^up$|^refused/);
    use(server);
    await reload('certificates_reloaded');
    expect(await link({ ca: undefined })).toMatch(/certificate|issuer/);
    const foreign = createAuthority(mkdtempSync(join(folder, 'foreign-')));
    expect(await link({ ca: readFileSync(foreign.caFile, 'utf8') })).toMatch(/certificate|issuer/);
  });

  it('starts with a certificate that has expired, logs it, and no vehicle accepts it', async () => {
    const home = mkdtempSync(join(folder, 'expired-'));
    const old = createAuthority(home);
    const { certFile: cert, keyFile: key } = old.issue('localhost', -1);
    chmodSync(key, 0o600);
    const flags = [`--mqtt-tls-cert-file=${cert}`, `--mqtt-tls-key-file=${key}`];
    const late: BrokerSetup = { folder: home, password: '', httpPort: 0, mqttPort: 0 };
    const other = await startOther(late, flags);
    expect(said(other, 'certificate_not_valid')).toMatchObject([
      { setting: 'mqtt.tls.certFile', file: cert },
    ]);
    const url = `mqtts://localhost:${late.mqttPort}`;
    expect(await link({ url, ca: readFileSync(old.caFile, 'utf8') })).toMatch(/expired/);
    other.signal('SIGTERM');
    expect(await other.ended()).toBe(0);
  });

  it('does not start with files that are wrong, and says what to do', async () => {
    const home = mkdtempSync(join(folder, 'wrong-'));
    const start = async (...flags: readonly string[]) => {
      const program = startProgram('broker', [
        'start',
        '--database',
        join(home, 'fleet.db'),
        '--http-port=0',
        '--mqtt-port=0',
        ...flags,
      ]);
      return [await program.ended(), program.complaints()];
    };
    const open = join(home, 'open.key');
    copyFileSync(server.keyFile, open);
    chmodSync(open, 0o644);
    const cert = `--mqtt-tls-cert-file=${server.certFile}`;
    expect(await start(cert, `--mqtt-tls-key-file=${open}`)).toEqual([
      78,
      expect.stringContaining('chmod 600'),
    ]);
    expect(await start(cert, `--mqtt-tls-key-file=${device.keyFile}`)).toEqual([
      78,
      expect.stringContaining('is not the key of'),
    ]);
    expect(await start('--ws-port=0', '--ws-host=0.0.0.0')).toEqual([
      78,
      expect.stringContaining('--ws-allow-plain'),
    ]);
    // Nothing was made: it is known before anything is opened.
    expect(existsSync(join(home, 'fleet.db'))).toBe(false);
  });

  it('logs what is readable on the network where it was configured without TLS', async () => {
    const home = mkdtempSync(join(folder, 'plain-'));
    const plain: BrokerSetup = { folder: home, password: '', httpPort: 0, mqttPort: 0 };
    // All of 127/8 is loopback to Linux, and this address is none to the broker.
    const other = await startOther(plain, ['--mqtt-host', '::ffff:127.0.0.1', '--mqtt-allow-plain']);
    expect(said(other, 'listener_without_tls')).toMatchObject([
      { listener: 'mqtt', risk: expect.stringContaining('device secrets') },
    ]);
    other.signal('SIGTERM');
    expect(await other.ended()).toBe(0);
  });
});
