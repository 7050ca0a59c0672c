// Containers of an unpacked image, started by runc as its operator would: read-only but for a volume, on the network of this machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** User of the image. */
export const userNo = 10_001;

interface Container {
  readonly child: ChildProcess;
  readonly volume: string;
  said(): string;
  readonly ended: Promise<number | null>;
}

export interface Containers {
  /** Runs the image's program with these words; the volume of this name is kept between runs. */
  start(name: string, args: readonly string[], environment?: readonly string[]): Container;
  /** Ends all that run. */
  stop(): Promise<void>;
}

interface Spec {
  readonly process: {
    args: string[];
    env: string[];
    terminal: boolean;
    readonly user: { readonly uid: number };
    readonly cwd: string;
  };
  readonly root: { readonly path: string; readonly readonly?: boolean };
  readonly linux: { namespaces: { readonly type: string }[]; resources?: unknown };
  mounts: { destination: string; type: string; source: string; options?: string[] }[];
}

/**
 * @param folder For the volumes.
 * @param bundle As umoci unpacked it.
 * @param emulator Words in front of the image's program, such as an emulator within the bundle.
 */
export function createContainers(
  folder: string,
  bundle: string,
  emulator: readonly string[] = [],
): Containers {
  const running: Container[] = [];
  const path = join(bundle, 'config.json');
  const unpacked = readFileSync(path, 'utf8');
  let started = 0;

  function writeSpec(volume: string, args: readonly string[], environment: readonly string[]): void {
    const spec = JSON.parse(unpacked) as Spec;
    spec.process.terminal = false;
    spec.process.args = [...emulator, ...spec.process.args, ...args];
    spec.process.env.push(...environment);
    Object.assign(spec.root, { readonly: true });
    spec.linux.namespaces = spec.linux.namespaces.filter(
      ({ type }) => type !== 'network' && type !== 'cgroup',
    );
    delete spec.linux.resources;
    // Without a control group of its own there is none to mount.
    spec.mounts = spec.mounts.filter(({ type, destination }) => type !== 'cgroup' && destination !== '/data');
    spec.mounts.push({ destination: '/data', type: 'bind', source: volume, options: ['rbind', 'rw'] });
    spec.mounts.push({
      destination: '/tmp',
      type: 'tmpfs',
      source: 'tmpfs',
      options: ['nosuid', 'mode=1777'],
    });
    writeFileSync(path, JSON.stringify(spec));
  }

  return {
    start(name, args, environment = []) {
      const volume = join(folder, `data-${name}`);
      mkdirSync(volume, { recursive: true, mode: 0o700 });
      chownSync(volume, userNo, userNo);
      writeSpec(volume, args, environment);
      const id = `fleetward-test-${process.pid}-${++started}`;
      const child = spawn('runc', ['--root', join(folder, 'runc'), 'run', '--bundle', bundle, id]);
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
      const ended = new Promise<number | null>((done) => child.once('close', done));
      const container = { child, volume, said: () => text, ended };
      running.push(container);
      return container;
    },
    async stop() {
      for (const { child, ended } of running.splice(0)) {
        if (child.exitCode === null) child.kill('SIGTERM');
        await ended;
      }
    },
  };
}
