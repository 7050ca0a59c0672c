// A disposable copy of this Debian machine with a real systemd: an overlay in memory over the root file system, booted in a
// container without a network. What a test installs there never touches the machine itself. Needs root.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from './wait-until.ts';

/** Ends a hang; longer than two minutes, as much starts at once. */
const bootMostMs = 300_000;
const endMostMs = 60_000;

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

export interface Machine {
  /** The machine's root folder, as seen from here. */
  readonly root: string;
  /** Runs a shell script inside; standard output and error together. */
  run(script: string, timeoutMs?: number): Ran;
  /** Runs it and throws with what it said unless it ends well. */
  must(script: string): string;
  close(): Promise<void>;
}

/** Null when such a machine can be made here, else why not. */
export function whyNoMachine(): string | null {
  return process.getuid?.() === 0 ? null : 'skipped, it installs a package in a container: run as root';
}

function childOf(pid: number): number | null {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return first === undefined || first === '' ? null : Number(first);
  } catch {
    return null;
  }
}

function mount(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('mount', args, { encoding: 'utf8', timeout: 20_000 });
  if (status !== 0) throw new Error(`mount ${args.join(' ')}: ${stderr}`);
}

function inside(init: number, script: string, timeoutMs = 240_000): Ran {
  const args = ['-t', String(init), '-a', 'sh', '-c', `exec 2>&1\n${script}`];
  const { status, stdout } = spawnSync('nsenter', args, {
    encoding: 'utf8',
    timeout: timeoutMs,
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8' },
  });
  return { code: status, output: stdout };
}

async function untilUp(container: ChildProcess, seen: () => string): Promise<number> {
  const look = (): number | null => {
    if (container.exitCode !== null) throw new Error(`the machine did not come up: ${seen()}`);
    const init = container.pid === undefined ? null : childOf(container.pid);
    if (init === null) return null;
    const state = inside(init, 'systemctl is-system-running').output.trim();
    return state === 'running' || state === 'degraded' ? init : null;
  };
  return await waitUntil('the machine', look, { limitMs: bootMostMs, everyMs: 200, seen });
}

/** Ends the first process of the container, with which all others end, then the container. */
async function endContainer(container: ChildProcess): Promise<void> {
  if (container.exitCode !== null || container.signalCode !== null) return;
  const ended = new Promise((resolve) => container.once('exit', resolve));
  const init = container.pid === undefined ? null : childOf(container.pid);
  if (init === null) container.kill('SIGKILL');
  else process.kill(init, 'SIGKILL');
  await Promise.race([ended, sleep(endMostMs, null, { ref: false })]);
}

/** Boots the copy to its basic target. `folders` of this machine are seen inside, read-only. */
export async function bootMachine(folders: Readonly<Record<string, string>>): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-machine-'));
  const release = (): void => {
    for (const path of [join(folder, 'root'), folder]) spawnSync('umount', ['-l', path], { timeout: 20_000 });
    rmSync(folder, { recursive: true, force: true });
  };
  let container: ChildProcess | null = null;
  try {
    mount('-t', 'tmpfs', '-o', 'size=1G,mode=0755', 'tmpfs', folder);
    for (const name of ['upper', 'work', 'root']) mkdirSync(join(folder, name));
    const layers = `lowerdir=/,upperdir=${folder}/upper,workdir=${folder}/work`;
    mount('-t', 'overlay', '-o', layers, 'overlay', join(folder, 'root'));
    // Images of containers forbid packages to start their services; a machine does not.
    rmSync(join(folder, 'root/usr/sbin/policy-rc.d'), { force: true });
    const binds = Object.entries(folders).map(([to, from]) => `--bind-ro=${from}:${to}`);
    container = spawn(
      'systemd-nspawn',
      [
        '-q',
        '-D',
        join(folder, 'root'),
        '--boot',
        '--register=no',
        '--keep-unit',
        '--private-network',
        '--link-journal=no',
      ].concat('--console=pipe', `--machine=fleetward-${process.pid}`, binds, 'systemd.unit=basic.target'),
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let said = '';
    for (const stream of [container.stdout, container.stderr])
      stream?.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-4000);
      });
    const running = container;
    const init = await untilUp(running, () => said);
    const run = (script: string, timeoutMs?: number): Ran => inside(init, script, timeoutMs);
    return {
      root: join(folder, 'root'),
      run,
      must(script) {
        const { code, output } = run(script);
        if (code !== 0) throw new Error(`${script}\nended with ${code}: ${output}`);
        return output;
      },
      async close() {
        try {
          await endContainer(running);
        } finally {
          release();
        }
      },
    };
  } catch (thrown) {
    if (container !== null) await endContainer(container).catch(() => undefined);
    release();
    throw thrown;
  }
}
