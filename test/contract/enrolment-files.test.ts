// Enrolment on the vehicle against a real disk and the real cryptography, cut off at every step: whatever is left behind,
// the same command run again ends in the same files, asks the broker for nothing that it does not give, and loses nothing.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEnrolmentFiles } from '../../agent/adapters/enrolment-files.ts';
import {
  type EnrolmentFiles,
  type EnrolmentOptions,
  type EnrolmentPorts,
  enrol,
} from '../../agent/enrolment/enrolment.ts';
import { createCertificateRequest } from '../../src/adapters/certificate-request.ts';
import { createEnrolmentCrypto } from '../../src/adapters/enrolment-crypto.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { AppError } from '../../src/core/errors.ts';
import {
  type EnrolmentGrant,
  type EnrolmentRequest,
  encodeGrant,
  type SealedGrant,
} from '../../src/core/wire/enrolment.ts';
import { createEnrolmentCode, formatEnrolmentCode } from '../../src/core/wire/enrolment-code.ts';

const entropy = createSystemEntropy();
const crypto = createEnrolmentCrypto(entropy);
const code = createEnrolmentCode(entropy.bytes(22));
/** The clock stands: the offset that enrolment measures is not that of a slow machine. */
const nowMs = Date.UTC(2026, 10, 24);
const clock = { ...createSystemClock(), utcMs: () => nowMs, monoMs: () => 0 };
const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-enrol-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A broker as the protocol asks for: the first request gets an answer, and it alone gets that again. */
async function createBroker(changes: Partial<EnrolmentGrant> = {}) {
  const { verifier } = await crypto.deriveCodeKey(code);
  const asked: string[] = [];
  let first: { readonly body: string; readonly answer: SealedGrant } | null = null;
  return {
    asked,
    async ask(body: string): Promise<SealedGrant> {
      asked.push(body);
      const request = JSON.parse(body) as EnrolmentRequest;
      if (!crypto.verify(verifier, request))
        throw new AppError('not_found', 'the broker says: there is no such code');
      if (first !== null && first.body !== body)
        throw new AppError('conflict', 'the broker says: it was used');
      if (first !== null) return first.answer;
      const grant: EnrolmentGrant = {
        accountID: 'acme',
        deviceID: 'truck-17',
        secret: Buffer.from(entropy.bytes(32)).toString('base64url'),
        publicKey: Buffer.alloc(32, 1).toString('base64'),
        mqttUrls: ['mqtts://fleet.example.com:8883'],
        ca: pem,
        certificate: request.certificateRequest === undefined ? null : pem,
        serverTimeMs: nowMs,
        ...changes,
      };
      const answer = crypto.seal({ verifier, request }, encodeGrant(grant));
      if (answer === null) throw new Error('was not sealed');
      first = { body, answer };
      return answer;
    },
  };
}

const wishIn = (changes: Partial<EnrolmentOptions> = {}): EnrolmentOptions => ({
  code: formatEnrolmentCode(code),
  configFile: join(folder, 'agent.toml'),
  secretFile: null,
  wantsCertificate: false,
  mqttUrl: null,
  isOtherDevice: false,
  ownerKey: null,
  isLocalBroker: false,
  ...changes,
});

/** Nothing here waits. */
const passAtOnce = (_delayMs: number, run: () => void) => {
  const turn = setImmediate(run);
  return () => clearImmediate(turn);
};

const portsOf = (ask: EnrolmentPorts['ask'], changes: Partial<EnrolmentPorts> = {}): EnrolmentPorts => ({
  crypto,
  clock: { ...clock, after: passAtOnce },
  entropy,
  files: createEnrolmentFiles(null),
  createCertificateRequest,
  ask,
  onProgress: () => undefined,
  ...changes,
});

const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const modeOf = (name: string) => statSync(join(folder, name)).mode & 0o777;

/** Everything that is there, but for what is random in it. */
const contents = () =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, read(name)]),
  );

describe('enrolment', () => {
  it('makes every file, readable by its user alone, and leaves nothing else behind', async () => {
    const broker = await createBroker();
    const enrolled = await enrol(portsOf(broker.ask), wishIn({ wantsCertificate: true }));
    expect(readdirSync(folder).sort()).toEqual([
      'agent.toml',
      'broker-ca.pem',
      'client-cert.pem',
      'client-key.pem',
      'secret',
    ]);
    for (const name of readdirSync(folder)) expect([name, modeOf(name)]).toEqual([name, 0o600]);
    expect(parse(read('agent.toml'))).toEqual({
      device: { account: 'acme', id: 'truck-17' },
      broker: {
        url: 'mqtts://fleet.example.com:8883',
        publicKey: Buffer.alloc(32, 1).toString('base64'),
        secretFile: join(folder, 'secret'),
        caFile: join(folder, 'broker-ca.pem'),
        certFile: join(folder, 'client-cert.pem'),
        keyFile: join(folder, 'client-key.pem'),
      },
    });
    expect(read('secret')).toMatch(/^[\w-]{43}\n$/);
    expect(enrolled).toMatchObject({ accountID: 'acme', deviceID: 'truck-17', backupFile: null });
    expect(enrolled.clockOffsetS).toBe(0);
    expect(JSON.stringify(enrolled)).not.toContain(read('secret').trim());
  });

  it('changes a file that is there in its settings only, keeps it as it was beside, and its mode', async () => {
    const before =
      '# wired by Ann\n[board]\nprofile = "generic"   # yes\n\n[device]\naccount = "acme"\nid = "truck-17"\n';
    writeFileSync(join(folder, 'agent.toml'), before);
    chmodSync(join(folder, 'agent.toml'), 0o640);
    const enrolled = await enrol(portsOf((await createBroker()).ask), wishIn());
    expect(read('agent.toml').startsWith(before)).toBe(true);
    expect(modeOf('agent.toml')).toBe(0o640);
    expect(read('agent.toml.bak')).toBe(before);
    expect(enrolled.changes.every(({ before: was }) => was === null)).toBe(true);
  });

  it('changes the file that a link of the installer names, and lets the link be', async () => {
    writeFileSync(join(folder, 'real.toml'), '[device]\naccount = "acme"\n');
    symlinkSync('real.toml', join(folder, 'agent.toml'));
    await enrol(portsOf((await createBroker()).ask), wishIn());
    expect(read('real.toml')).toContain('id = "truck-17"');
    expect(read('agent.toml')).toBe(read('real.toml'));
    expect(existsSync(join(folder, 'agent.toml.bak'))).toBe(true);
  });

  it('does not ask with a code that was mistyped, nor with a file that it could not change, nor without a place to write', async () => {
    const broker = await createBroker();
    const good = formatEnrolmentCode(code);
    const mistyped = `${good.slice(0, 6)}${good[6] === 'A' ? 'B' : 'A'}${good.slice(7)}`;
    await expect(enrol(portsOf(broker.ask), wishIn({ code: mistyped }))).rejects.toMatchObject({
      code: 'usage',
    });
    await expect(
      enrol(portsOf(broker.ask), wishIn({ secretFile: '/proc/none/secret' })),
    ).rejects.toMatchObject({ code: 'storage' });
    writeFileSync(join(folder, 'agent.toml'), 'broker.url = "mqtt://a"\n');
    await expect(enrol(portsOf(broker.ask), wishIn())).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('left as it is'),
    });
    expect(read('agent.toml')).toBe('broker.url = "mqtt://a"\n');
    expect(broker.asked).toEqual([]);
  });

  it('ends in the same files wherever it is cut off, and asks with one key only', {
    timeout: 300_000,
  }, async () => {
    writeFileSync(join(folder, 'agent.toml'), '# Ann\n[gnss]\nport = "x"\n');
    const steps = { left: Number.POSITIVE_INFINITY, done: 0 };
    const step = (): void => {
      steps.done += 1;
      steps.left -= 1;
      if (steps.left < 0) throw new Error('power cut');
    };
    const disk = createEnrolmentFiles(null);
    // The power goes just before or just after a write.
    const failing: EnrolmentFiles = {
      read: disk.read,
      prepare: disk.prepare,
      write(...args) {
        step();
        disk.write(...args);
        step();
      },
      remove(path) {
        step();
        disk.remove(path);
        step();
      },
    };
    const run = async (broker: Awaited<ReturnType<typeof createBroker>>) =>
      enrol(
        portsOf(
          async (body) => {
            const answer = await broker.ask(body);
            step();
            return answer;
          },
          { files: failing },
        ),
        wishIn({ wantsCertificate: true }),
      );
    const start = contents();
    await run(await createBroker());
    const whole = steps.done;
    expect(whole).toBeGreaterThan(15);
    const names = Object.keys(contents());
    for (let cutAt = 0; cutAt < whole; cutAt += 1) {
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
      for (const [name, text] of Object.entries(start)) writeFileSync(join(folder, name), text);
      const broker = await createBroker();
      steps.left = cutAt;
      await expect(run(broker), `cut at ${cutAt}`).rejects.toThrow('power cut');
      const asked = broker.asked.length;
      steps.left = Number.POSITIVE_INFINITY;
      // Before the first write there was no key, and after the last nothing was left to finish.
      if (cutAt === whole - 1) continue;
      await run(broker);
      expect(new Set(broker.asked).size, `cut at ${cutAt}`).toBe(1);
      expect(broker.asked.length - asked).toBeLessThanOrEqual(1);
      expect(Object.keys(contents()), `cut at ${cutAt}`).toEqual(names);
      expect(read('agent.toml').startsWith('# Ann\n[gnss]\nport = "x"\n'), `cut at ${cutAt}`).toBe(true);
      expect(read('agent.toml.bak')).toBe(start['agent.toml']);
    }
  });

  it('tries again by itself while the network is bad, with the same request', async () => {
    const broker = await createBroker();
    let fails = 3;
    const waits: string[] = [];
    const ask = async (body: string): Promise<SealedGrant> => {
      fails -= 1;
      if (fails === 1) await broker.ask(body);
      if (fails >= 0) throw new AppError('unavailable', 'the connection was cut off');
      return broker.ask(body);
    };
    const enrolled = await enrol(portsOf(ask, { onProgress: (line) => waits.push(line) }), wishIn());
    expect(waits).toHaveLength(3);
    expect(new Set(broker.asked).size).toBe(1);
    // What is given once more carries the time of the first answer.
    expect(enrolled.clockOffsetS).toBeNull();
  });

  it('gives up on a broker that is not there, and on one that says no', async () => {
    let count = 0;
    const say = (thrown: AppError) => async (): Promise<SealedGrant> => {
      count += 1;
      throw thrown;
    };
    const cases: readonly (readonly [AppError, number])[] = [
      [new AppError('unavailable', 'x'), 4],
      [new AppError('throttled', 'x', { retryAfterS: 20 }), 4],
      [new AppError('throttled', 'x', { retryAfterS: 900 }), 1],
      [new AppError('conflict', 'x'), 1],
      [new AppError('not_found', 'x'), 1],
    ];
    for (const [thrown, times] of cases) {
      count = 0;
      await expect(enrol(portsOf(say(thrown)), wishIn())).rejects.toBe(thrown);
      expect(count).toBe(times);
    }
  });

  it('writes nothing of an answer that the issuer of the code did not make', async () => {
    const broker = await createBroker();
    const strange = await crypto.deriveCodeKey({ ...code, secret: '0'.repeat(16) });
    const forge = async (body: string): Promise<SealedGrant> => {
      const request = JSON.parse(body) as EnrolmentRequest;
      const sealed = crypto.seal({ verifier: strange.verifier, request }, new TextEncoder().encode('{}'));
      if (sealed === null) throw new Error('was not sealed');
      return sealed;
    };
    await expect(enrol(portsOf(forge), wishIn())).rejects.toMatchObject({ code: 'unauthorized' });
    expect(readdirSync(folder)).toEqual(['secret.enrolment']);
    await enrol(portsOf(broker.ask), wishIn());
    expect(readdirSync(folder).sort()).toEqual(['agent.toml', 'broker-ca.pem', 'secret']);
  });

  it('keeps nothing of the code on the disk', async () => {
    const fail = async (): Promise<SealedGrant> => {
      throw new AppError('conflict', 'x');
    };
    await expect(enrol(portsOf(fail), wishIn())).rejects.toThrow();
    expect(read('secret.enrolment')).not.toContain(code.secret);
    expect(modeOf('secret.enrolment')).toBe(0o600);
  });

  it('does not give the events of one vehicle to another', async () => {
    const before = '[device]\naccount = "acme"\nid = "truck-1"\n';
    writeFileSync(join(folder, 'agent.toml'), before);
    const broker = await createBroker();
    await expect(enrol(portsOf(broker.ask), wishIn())).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining('is that of acme/truck-1'),
    });
    expect(read('agent.toml')).toBe(before);
    expect(existsSync(join(folder, 'secret'))).toBe(false);
    await enrol(portsOf(broker.ask), wishIn({ isOtherDevice: true }));
    expect(read('agent.toml')).toContain('id = "truck-17"');
    expect(broker.asked).toHaveLength(1);
  });

  it('asks where to connect when the broker names its own machine or nothing, without another code', async () => {
    for (const mqttUrls of [[], ['mqtt://127.0.0.1:1883'], ['mqtt://localhost:1883', 'mqtt://[::1]:1883']]) {
      const broker = await createBroker({ mqttUrls });
      await expect(enrol(portsOf(broker.ask), wishIn())).rejects.toMatchObject({
        hint: expect.stringContaining('--mqtt-url'),
      });
      const { url } = await enrol(portsOf(broker.ask), wishIn({ mqttUrl: 'mqtts://yard:8883' }));
      expect(url).toBe('mqtts://yard:8883');
      expect(broker.asked).toHaveLength(1);
      for (const name of readdirSync(folder)) rmSync(join(folder, name));
    }
    const local = await createBroker({ mqttUrls: ['mqtt://127.0.0.1:1883'] });
    expect((await enrol(portsOf(local.ask), wishIn({ isLocalBroker: true }))).url).toBe(
      'mqtt://127.0.0.1:1883',
    );
  });

  it('is not lost when a certificate was asked for in vain', async () => {
    const broker = await createBroker();
    const refuse = async (): Promise<SealedGrant> => {
      throw new AppError('unsupported', 'the broker says: this broker signs no certificates');
    };
    await expect(enrol(portsOf(refuse), wishIn({ wantsCertificate: true }))).rejects.toMatchObject({
      code: 'unsupported',
    });
    await enrol(portsOf(broker.ask), wishIn());
    expect(read('secret')).toMatch(/^[\w-]{43}\n$/);
  });

  it('reports a wrong clock', async () => {
    const broker = await createBroker({ serverTimeMs: nowMs + 3 * 24 * 3600_000 });
    const { clockOffsetS } = await enrol(portsOf(broker.ask), wishIn());
    expect(clockOffsetS).toBeLessThan(-250_000);
  });
});
