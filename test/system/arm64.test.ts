// The arm64 package of the agent and the arm64 image on an amd64 machine, under qemu's emulation of a processor. It shows that the native
// parts load and that data is written and read; not how fast that is, nor anything of real hardware.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readVersion } from '../../src/adapters/version.ts';
import { type Containers, createContainers } from '../support/machine/containers.ts';
import { buildPackage, repository, runTool, whyNoPackager } from '../support/machine/deb-package.ts';
import { freePort } from '../support/machine/free-port.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const { missing } = requires({
  commands: [
    'qemu-aarch64-static',
    'aarch64-linux-gnu-g++',
    'aarch64-linux-gnu-strip',
    'dpkg-deb',
    'runc',
    'umoci',
  ],
  debian: [
    'qemu-user-static',
    'g++-aarch64-linux-gnu',
    'binutils-aarch64-linux-gnu',
    'dpkg-dev',
    'runc',
    'umoci',
  ],
});
const why =
  missing ??
  whyNoPackager() ??
  (process.getuid?.() === 0 ? null : 'skipped, needs root') ??
  (process.arch === 'x64' ? null : 'skipped, this machine is no amd64');
const version = readVersion();
/** Emulation is some twenty times slower, on a machine that does other things too. */
const slowMs = 600_000;

describe.skipIf(why !== null)(`for arm64${why === null ? '' : ` (${why})`}`, { timeout: 1_800_000 }, () => {
  const folder = temporaryFolder('arm64');
  /** Made before, or by the script; it takes minutes. */
  const parts = process.env['FLEETWARD_TEST_ARM64_PARTS'] ?? join(folder, 'parts');

  beforeAll(() => {
    if (process.env['FLEETWARD_TEST_ARM64_PARTS'] === undefined)
      runTool('sh', [join(repository, 'systemd/arm64-parts.sh'), parts]);
  }, 1_800_000);

  describe('the package of the agent', () => {
    const root = join(folder, 'agent');
    const home = join(root, 'usr/lib/fleetward-agent');
    const socket = join(folder, 'agent.sock');
    const config = join(folder, 'agent.toml');
    /** The loader and the C libraries are those of the cross compiler. */
    const words = ['-L', '/usr/aarch64-linux-gnu', join(home, 'node'), join(home, 'app/dist/agent/main.js')];
    const running: ChildProcess[] = [];
    const run = (...args: readonly string[]) =>
      spawnSync('qemu-aarch64-static', [...words, ...args], {
        encoding: 'utf8',
        timeout: slowMs,
        cwd: folder,
      });
    const start = (): { readonly child: ChildProcess; said(): string; readonly ended: Promise<unknown> } => {
      const child = spawn('qemu-aarch64-static', [...words, 'start', '--config', config], { cwd: folder });
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
      running.push(child);
      const ended = new Promise((done) => child.once('close', (code, signal) => done(code ?? signal)));
      return { child, said: () => text, ended };
    };
    interface Status {
      readonly version: string;
      readonly backlog: number;
    }
    /** Null until the agent answers. */
    const status = (): Status | null => {
      const { stdout } = run('status', '--json', '--socket', socket);
      return stdout === '' ? null : (JSON.parse(stdout) as Status);
    };

    beforeAll(() => {
      const archive = buildPackage('agent', '--arch', 'arm64', '--parts', parts, '--output', folder);
      runTool('dpkg-deb', ['--extract', archive, root]);
      writeFileSync(join(folder, 'secret'), `${'s'.repeat(43)}\n`, { mode: 0o600 });
      writeFileSync(
        config,
        `[device]
account = "acme"
id = "truck-1"
[broker]
url = "mqtt://127.0.0.1:1"
secretFile = "${folder}/secret"
publicKey = "${'A'.repeat(43)}="
[storage]
path = "${folder}/outbox.db"
[local]
socket = "${socket}"
[board]
profile = "waveshare-relay-d"
port = "${folder}/no-board"
[gnss]
port = "${folder}/no-receiver"
`,
      );
    }, 900_000);
    afterEach(async () => {
      for (const child of running.splice(0)) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        const ended = new Promise((done) => child.once('close', done));
        child.kill('SIGKILL');
        await ended;
      }
    });

    it('passes its own test: both native parts load, forced writes are read back', () => {
      const { status: code, stdout, stderr } = run('selftest', '--json');
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/serial port binding/);
      expect(run('--version')).toMatchObject({ status: 0, stdout: expect.stringContaining(version) });
    });

    it('checks its configuration', () => {
      const { stdout, stderr } = run('config', 'check', '--config', config);
      expect(`${stdout}${stderr}`).not.toMatch(/unknown|not a setting/i);
      expect(stdout).toMatch(/waveshare-relay-d|good/);
    });

    it('keeps its events over a kill, and ends well on SIGTERM', async () => {
      const first = start();
      const seen = { seen: first.said, limitMs: slowMs };
      const before = await waitUntil(
        'an event on the disk',
        () => (status()?.backlog ?? 0) > 0 && status(),
        seen,
      );
      expect(before.version).toBe(version);
      first.child.kill('SIGKILL');
      await first.ended;
      const second = start();
      const more = await waitUntil('the agent again', () => status(), { seen: second.said, limitMs: slowMs });
      expect(more.backlog).toBeGreaterThanOrEqual(before.backlog);
      second.child.kill('SIGTERM');
      expect([await second.ended, second.said()]).toEqual([0, expect.anything()]);
    });
  });

  describe('the image', () => {
    const layout = join(folder, 'image');
    const bundle = join(folder, 'bundle');
    let containers: Containers;
    const build = (output: string) =>
      JSON.parse(
        runTool(process.execPath, [
          join(repository, 'dist/systemd/package-image.js'),
          '--arch',
          'arm64',
          '--parts',
          parts,
          '--output',
          output,
        ]),
      ) as { digest: string; sizeBytes: number };

    beforeAll(() => {
      mkdirSync(layout);
    });
    afterEach(() => containers.stop());

    it('has at most 90 MB and the same bytes when it is built again, and serves as its own user', async () => {
      const built = build(layout);
      expect(built.sizeBytes).toBeLessThanOrEqual(90_000_000);
      expect(build(join(folder, 'again')).digest).toBe(built.digest);
      runTool('umoci', ['unpack', '--image', `${layout}:${version}-arm64`, bundle]);
      copyFileSync(
        runTool('sh', ['-c', 'command -v qemu-aarch64-static']).trim(),
        join(bundle, 'rootfs/qemu'),
      );
      runTool('chmod', ['755', join(bundle, 'rootfs/qemu')]);
      containers = createContainers(folder, bundle, ['/qemu']);
      const port = await freePort();
      const ports = [`FLEETWARD_HTTP_PORT=${port}`, `FLEETWARD_MQTT_PORT=${await freePort()}`];
      const account = ['broker', 'account', 'create', 'acme', '--admin', 'ann', '--json'];
      const made = containers.start('broker', account, ports);
      expect([await made.ended, made.said()]).toEqual([0, expect.stringContaining('acme')]);
      const broker = containers.start('broker', [], ports);
      const isReady = async (): Promise<boolean> => {
        if (broker.child.exitCode !== null) throw new Error(`it ended:\n${broker.said()}`);
        return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true;
      };
      await waitUntil('a broker that is ready', isReady, { seen: broker.said, limitMs: slowMs });
      const { password } = JSON.parse(made.said()) as { password: string };
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ accountID: 'acme', userID: 'ann', password }),
      });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('token')]);
      broker.child.kill('SIGTERM');
      expect([await broker.ended, broker.said()]).toEqual([0, expect.anything()]);
      const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as { manifests: object[] };
      expect(index.manifests).toHaveLength(2);
    });
  });
});
