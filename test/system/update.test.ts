// An update of the agent on its whole way, with real processes: an administrator asks over HTTP, the broker signs, the agent
// fetches over https, the launcher starts what it chooses, and a little service manager starts it again whenever it ends, however
// it ended. Releases that crash, that do not work, and that nobody signed never stay; kill -9 at every step loses nothing.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import SqliteConnection from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readReleaseState } from '../../agent/adapters/update/release-state.ts';
import { restartExitCode } from '../../agent/adapters/update/updater.ts';
import { layTree, ownArch } from '../../systemd/app-tree.ts';
import { agentProduct } from '../../systemd/products.ts';
import { createAuthority } from '../support/broker/certificates.ts';
import { everyEventIn } from '../support/database/stored-events.ts';
import {
  buildArchive,
  type FileServer,
  sha256Of,
  startFileServer,
} from '../support/machine/release-archive.ts';
import { requires } from '../support/machine/requires.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import {
  type Api,
  createBrokerSetup,
  openApi,
  provision,
  startBroker,
} from '../support/programs/fleet-processes.ts';
import { wireVehicle } from '../support/programs/wired-vehicle.ts';
import { type Slave, sleep, startSlave } from '../support/serial/pty-bus.ts';

const { missing, python } = requires({
  commands: ['socat', 'openssl', 'setsid'],
  python: ['pymodbus', 'serial_asyncio'],
  debian: ['socat', 'openssl', 'python3-pymodbus', 'python3-serial-asyncio'],
});
const root = new URL('../..', import.meta.url).pathname;
/** The trial of a silent board lasts a minute and a half: nightly, `FLEETWARD_TEST_UPDATE_TRIALS=all`. `unit/update.test.ts` has it on a virtual clock. */
const hasSilentTrial = process.env['FLEETWARD_TEST_UPDATE_TRIALS'] === 'all';

interface Line {
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** What systemd does: starts it, and starts it again. The whole group goes when its first process has ended. */
function supervise(command: string, args: readonly string[]) {
  const lines: Line[] = [];
  const codes: (number | null)[] = [];
  const complaints: string[] = [];
  let child: ChildProcess | null = null;
  let isStopped = false;
  const sweep = (pid: number | undefined): void => {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // Nothing was left.
    }
  };
  const start = (): void => {
    const started = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    child = started;
    createInterface({ input: started.stdout }).on('line', (line) => {
      if (line.startsWith('{')) lines.push(JSON.parse(line) as Line);
    });
    started.stderr.on('data', (chunk: Buffer) => complaints.push(chunk.toString()));
    started.once('exit', (code) => {
      codes.push(code);
      sweep(started.pid);
      if (!isStopped) setTimeout(start, 200);
    });
  };
  start();
  return {
    lines,
    codes,
    complaints,
    kill: () => sweep(child?.pid),
    async stop(): Promise<void> {
      isStopped = true;
      const last = child;
      if (last === null || last.exitCode !== null || last.signalCode !== null) return;
      const gone = new Promise((resolve) => last.once('exit', resolve));
      sweep(last.pid);
      await gone;
    },
  };
}

interface Command {
  readonly commandID: string;
  readonly commandState: string;
  readonly detail: string;
  readonly hasEnded: boolean;
}

describe.skipIf(missing !== null)(
  `an update${missing === null ? '' : ` (${missing})`}`,
  {
    timeout: 900_000,
  },
  () => {
    const setup = createBrokerSetup('update');
    const { folder } = setup;
    const at = (...path: readonly string[]): string => join(folder, ...path);
    const releases = at('releases');
    const cleanups: (() => Promise<void>)[] = [];
    let api: Api;
    let slave: Slave;
    let files: FileServer;
    let vehicle: ReturnType<typeof supervise>;
    let boardFar = '';

    /** A whole release of this very agent under another version, as `package:release` makes it. */
    const packageRelease = (version: string): Buffer => {
      const program = join(root, 'dist/systemd/package-release.js');
      const args = [program, '--key', at('release.key'), '--version', version, '--output', at('out')];
      const { path } = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as {
        path: string;
      };
      return readFileSync(path);
    };

    /** `served` lies at the address in place of the archive that the job names. */
    const order = async (version: string, archive: Buffer, served = archive): Promise<string> => {
      const path = `/agent-${version}.tar.gz`;
      files.files.set(path, served);
      const { commandID } = await api.post<Command>('/command/firmware/authorization', {
        deviceID: 'truck-1',
        version,
        url: `https://localhost:${files.port}${path}`,
        sha256: sha256Of(archive),
      });
      return commandID;
    };
    const seen = (): string => {
      const last = vehicle.lines.slice(-15).map((line) => JSON.stringify(line));
      return `${last.join('\n')}\n${vehicle.complaints.slice(-5).join('')}`;
    };
    /** Waits for the end of a job: of the longest, which is tried in vain. */
    const ended = (commandID: string): Promise<Command> => {
      const look = async (): Promise<Command | null> => {
        const found = await api.get<Command>(`/command/get/${commandID}/authorization`);
        return found.hasEnded ? found : null;
      };
      return waitUntil('the end of the job', look, { limitMs: 5 * hangMs, everyMs: 200, seen });
    };
    /** Codes of the events that tell of the job, as the vehicle numbered them. */
    const told = (commandID: string): readonly number[] => {
      const database = new SqliteConnection(at('fleet.db'), { readonly: true });
      const rows = database
        .prepare(
          `SELECT status_code AS code FROM ${everyEventIn(database)} WHERE command_id = ? ORDER BY event_no`,
        )
        .all(commandID) as { code: number }[];
      database.close();
      return rows.map(({ code }) => code);
    };
    const asked = (path: string): number => files.requests.filter((line) => line.includes(path)).length;
    const said = (msg: string): number => vehicle.lines.filter((line) => line.msg === msg).length;
    /** Waits until the agent has said it once more than so often. */
    const hears = (msg: string, before: number) =>
      waitUntil(`"${msg}"`, () => said(msg) > before, { everyMs: 2, seen });
    const running = (): string =>
      String(vehicle.lines.findLast((line) => line.msg === 'agent_started')?.['version']);

    const startVehicle = async (): Promise<void> => {
      const wires = await wireVehicle({ ...setup, ...provision(setup, 'truck-1') }, python ?? '');
      const { config } = wires;
      ({ slave, boardFar } = wires);
      wires.gnss.stand(43.65, -79.35);
      cleanups.push(
        () => slave.close(),
        () => wires.close(),
      );
      // A release that works has long enough to show it on a machine that stands still now and then; one whose board is silent
      // gives itself up long before the launcher would stop it.
      const update = { parkedS: 10, healthS: 20, trialS: 90, caFile: JSON.stringify(at('ca.crt')) };
      const table = Object.entries(update).map(([name, value]) => `${name} = ${value}`);
      appendFileSync(config, `[update]\n${table.join('\n')}\n`);
      const key = at('release.pub');
      const uid = String(process.getuid?.() ?? 0);
      const launcher = ['--releases', releases, '--scratch', at('scratch'), '--key', key, '--key-owner', uid];
      const agent = ['start', '--config', config, '--releases', releases];
      agent.push('--release-key', key, '--release-key-owner', uid);
      vehicle = supervise(at('home/launch'), [...launcher, '--', ...agent]);
      cleanups.push(() => vehicle.stop());
    };

    beforeAll(async () => {
      const pair = generateKeyPairSync('ed25519');
      writeFileSync(at('release.pub'), pair.publicKey.export({ type: 'spki', format: 'pem' }), {
        mode: 0o644,
      });
      writeFileSync(at('release.key'), pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), {
        mode: 0o600,
      });
      mkdirSync(at('home'));
      layTree(
        { product: agentProduct, root, arch: ownArch(), version: '0.1.0', parts: null },
        at('home/app'),
      );
      cpSync(join(root, 'systemd/launch.sh'), at('home/launch'));
      chmodSync(at('home/launch'), 0o755);
      symlinkSync(process.execPath, at('home/node'));
      const authority = createAuthority(folder);
      files = await startFileServer(authority.issue('localhost', 2));
      cleanups.push(() => files.close());
      const broker = await startBroker(setup, ['--firmware-hosts', `localhost:${files.port}`]);
      cleanups.push(async () => broker.signal('SIGKILL'));
      await startVehicle();
      api = await openApi(setup);
      await hears('connected', 0);
    });

    afterAll(async () => {
      for (const cleanup of cleanups.toReversed()) await cleanup();
      rmSync(folder, { recursive: true, force: true });
    });

    const releaseKey = () => createPrivateKey(readFileSync(at('release.key')));

    it('that is unsigned, older, or not the file of the job is refused with the reason', async () => {
      const foreign = buildArchive({ version: '0.2.0', key: generateKeyPairSync('ed25519').privateKey });
      const unsigned = await order('0.2.0', foreign);
      expect(await ended(unsigned)).toMatchObject({
        commandState: 'refused',
        detail: 'the signature is not that of the release key',
      });
      expect(told(unsigned)).toEqual([64_834, 64_836]);
      const older = await order('0.1.0', foreign);
      expect(await ended(older)).toMatchObject({
        commandState: 'refused',
        detail: 'release 0.1.0 is not newer than 0.1.0, which runs',
      });
      const wrong = await order('0.2.1', foreign, Buffer.from('something else'));
      expect((await ended(wrong)).detail).toContain('SHA-256 differs');
      expect(said('update_restart')).toBe(0);
      expect(readReleaseState(releases).state.trial).toBeNull();
    });

    it('is withdrawn while it is being fetched, and the unit fetches no more', async () => {
      files.pauseMs = 2000;
      const archive = buildArchive({ version: '0.2.2', key: releaseKey(), code: `// ${'x'.repeat(9)}` });
      const big = Buffer.concat([archive, Buffer.alloc(3_000_000, 7)]);
      const job = await order('0.2.2', big);
      await waitUntil('the download', () => asked('/agent-0.2.2.tar.gz') > 0, { seen });
      await api.post('/command/cancel/authorization', { commandID: job });
      expect(await ended(job)).toMatchObject({ commandState: 'cancelled' });
      files.pauseMs = 0;
    });

    it('waits until the ignition is off', async () => {
      await slave.set('input', 0, 1);
      const isOn = (line: Line): boolean => line['input'] === 'ignition' && line['on'] === true;
      await waitUntil('the ignition', () => vehicle.lines.some(isOn), { seen });
      const job = await order('0.2.3', buildArchive({ version: '0.2.3', key: releaseKey() }));
      await hears('update_staged', 0);
      const reason = 'the ignition is not known to be off';
      const isWaiting = (line: Line): boolean => line.msg === 'update_waiting' && line['reason'] === reason;
      await waitUntil('the reason', () => vehicle.lines.some(isWaiting), { seen });
      // Longer than it must be parked.
      await sleep(12_000);
      expect(said('update_restart')).toBe(0);
      await api.post('/command/cancel/authorization', { commandID: job });
      expect(await ended(job)).toMatchObject({ commandState: 'cancelled' });
      await slave.set('input', 0, 0);
    });

    it('to a release that crashes is taken back by the launcher, and reported', async () => {
      const code = 'throw new Error("broken release")';
      const job = await order('0.3.0', buildArchive({ version: '0.3.0', key: releaseKey(), code }));
      expect(await ended(job)).toMatchObject({
        commandState: 'refused',
        detail: 'it was started 3 times and never confirmed',
      });
      expect(told(job)).toEqual([64_834, 64_836]);
      expect(vehicle.codes).toContain(restartExitCode);
      expect(running()).toBe('0.1.0');
    });

    it('to a good release is carried out once, although power is cut at every step', async () => {
      const archive = packageRelease('0.4.0');
      files.pauseMs = 40;
      const steps = ['update_staged', 'update_restart', 'release_on_trial'].map(
        (step) => [step, said(step)] as const,
      );
      const job = await order('0.4.0', archive);
      const path = '/agent-0.4.0.tar.gz';
      const download = join(releases, `.download-${sha256Of(archive)}`);
      const fetched = (): number => (existsSync(download) ? statSync(download).size : 0);
      // In the download, several times: it goes on where it ended.
      for (let cut = 0; cut < 3; cut++) {
        const before = fetched();
        await waitUntil('more of the download', () => fetched() > before, { seen });
        vehicle.kill();
      }
      files.pauseMs = 0;
      // When it is staged, when the launcher has been asked, and when the new release has begun its trial. A machine that stands still
      // may be beyond the step by then.
      for (const [step, before] of steps) {
        await hears(step, before);
        vehicle.kill();
      }
      expect(await ended(job)).toMatchObject({ commandState: 'confirmed' });
      expect(files.requests.filter((line) => line.includes(path)).join('\n')).toMatch(/bytes=[1-9]/);
      expect(told(job)).toEqual([64_834, 64_835]);
      expect(running()).toBe('0.4.0');
      expect(readReleaseState(releases).state).toMatchObject({ confirmed: '0.4.0', trial: null });
      vehicle.kill();
      await hears('agent_started', said('agent_started'));
      expect(running()).toBe('0.4.0');
    });

    it.runIf(hasSilentTrial)(
      'to a release under which the board is silent is given up by itself, with the reason',
      async () => {
        const archive = packageRelease('0.5.0');
        const before = said('release_on_trial');
        const job = await order('0.5.0', archive);
        await hears('release_on_trial', before);
        await slave.close();
        expect(await ended(job)).toMatchObject({
          commandState: 'refused',
          detail: 'given up after its trial: the I/O board is silent',
        });
        slave = await startSlave(python ?? '', boardFar);
        expect(running()).toBe('0.4.0');
        expect(readReleaseState(releases).state).toMatchObject({ confirmed: '0.4.0', trial: null });
      },
    );
  },
);
