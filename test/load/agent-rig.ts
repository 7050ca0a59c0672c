// The real programs for the agent bench: a broker, `fleetward-simulator hardware` on two ptys and an agent that believes in
// them, each a process of its own on loopback. It ends every process that it started and removes their folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noEventLimits } from '../../simulator/broker-process.ts';
import { checkout } from '../support/machine/checkout.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import {
  type BrokerSetup,
  type NodeSetup,
  type Program,
  provision,
  startBroker,
  startProgram,
} from '../support/programs/fleet-processes.ts';
import { backlogMb } from './agent-backlog.ts';

/** Node as the service starts it, read from the script that does: never another one than in the vehicle. */
export function readServiceNode(): NodeSetup {
  const script = readFileSync(new URL('systemd/launch.sh', checkout), 'utf8');
  const flags = /^exec "\$node" (.*?)"\$folder/m.exec(script)?.[1]?.trim().split(/\s+/) ?? [];
  const exported = /^export (.+)$/m.exec(script)?.[1]?.split(/\s+/) ?? [];
  const env = Object.fromEntries(
    exported.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
  return { flags: flags.filter((flag) => flag !== ''), env };
}

export interface RigOptions {
  /** Reading of the inputs instead of the profile's own. */
  readonly inputsPollMs?: number;
  readonly windowS?: number;
  readonly movingS?: number;
  /** Port of an adapter of the vehicle bus; without it the vehicle has none. */
  readonly busPort?: string;
}

export interface AgentFile {
  readonly path: string;
  readonly outbox: string;
}

const profile = 'waveshare-io-analog';

/** Writes an agent's file with standard settings but for `options`, and the secret that it names. */
export function writeAgentFile(
  at: {
    readonly folder: string;
    readonly mqttPort: number;
    readonly secret: string;
    readonly publicKey: string;
    readonly accountID?: string;
    readonly deviceID?: string;
  },
  options: RigOptions = {},
): AgentFile {
  const { folder, accountID = 'demo', deviceID = 'truck-1' } = at;
  const { inputsPollMs, windowS, movingS, busPort } = options;
  const outbox = join(folder, 'outbox.db');
  const path = join(folder, 'agent.toml');
  writeFileSync(join(folder, 'secret'), at.secret, { mode: 0o600 });
  const lines = [
    '[device]',
    `account = "${accountID}"`,
    `id = "${deviceID}"`,
    '[broker]',
    `url = "mqtt://127.0.0.1:${at.mqttPort}"`,
    `secretFile = "${join(folder, 'secret')}"`,
    `publicKey = "${at.publicKey}"`,
    'connectSpreadS = 0',
    '[storage]',
    `path = "${outbox}"`,
    `maxMb = ${backlogMb}`,
    ...(windowS === undefined ? [] : [`windowS = ${windowS}`]),
    '[board]',
    `profile = "${profile}"`,
    `port = "${join(folder, 'ttyBoard')}"`,
    ...(inputsPollMs === undefined ? [] : ['[board.overrides.polls.inputs]', `periodMs = ${inputsPollMs}`]),
    '[gnss]',
    `port = "${join(folder, 'ttyGnss')}"`,
    'baud = 9600',
    ...(movingS === undefined ? [] : ['[reporting]', `movingS = ${movingS}`]),
    ...(busPort === undefined ? [] : ['[bus]', `port = "${busPort}"`]),
    '[local]',
    `socket = "${join(folder, 'agent.sock')}"`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  return { path, outbox };
}

export interface Rig {
  readonly folder: string;
  readonly broker: Program;
  /** The broker's database. */
  readonly database: string;
  readonly file: AgentFile;
  startAgent(): Program;
  /** A command to the simulated hardware; resolves when it is done. */
  command(line: string): Promise<void>;
  close(): Promise<void>;
}

async function startHardware(
  folder: string,
): Promise<{ readonly program: Program; readonly control: string }> {
  const program = startProgram('simulator', [
    'hardware',
    '--board',
    profile,
    '--link-board',
    join(folder, 'ttyBoard'),
    '--link-gnss',
    join(folder, 'ttyGnss'),
    '--control-port',
    '0',
    '--json',
  ]);
  const ready = () => program.lines.find((line) => line['event'] === 'ready');
  await waitUntil('the hardware', () => ready() !== undefined || program.exitCode() !== null);
  const control = ready()?.['control'];
  if (typeof control !== 'string') throw new Error(`the hardware did not start: ${program.complaints()}`);
  return { program, control };
}

async function end(program: Program): Promise<void> {
  if (program.exitCode() !== null) return;
  program.signal('SIGTERM');
  const timer = setTimeout(() => program.signal('SIGKILL'), 10_000);
  await program.ended();
  clearTimeout(timer);
}

/** Starts everything but the agent. Needs socat. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-bench-'));
  const programs: Program[] = [];
  const close = async (): Promise<void> => {
    for (const program of programs.toReversed()) await end(program);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const setup: BrokerSetup = { folder, password: 'a long bench password', httpPort: 0, mqttPort: 0 };
    const { secret, publicKey } = provision(setup, 'truck-1');
    const broker = await startBroker(setup, noEventLimits);
    programs.push(broker);
    const hardware = await startHardware(folder);
    programs.push(hardware.program);
    const file = writeAgentFile({ folder, mqttPort: setup.mqttPort, secret, publicKey }, options);
    return {
      folder,
      broker,
      database: join(folder, 'fleet.db'),
      file,
      startAgent() {
        const agent = startProgram('agent', ['start', '--config', file.path], readServiceNode());
        programs.push(agent);
        return agent;
      },
      async command(line) {
        const answer = await fetch(`${hardware.control}/command`, { method: 'POST', body: line });
        if (!answer.ok) throw new Error(`${line}: ${answer.status} ${await answer.text()}`);
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Starts a yardstick, as the service starts its Node, and resolves when it is ready. */
export async function startBare(
  name: 'bare-agent' | 'bare-serial',
  arguments_: readonly string[] = [],
): Promise<{ readonly child: ChildProcess; close(): Promise<void> }> {
  const { flags, env } = readServiceNode();
  const program = fileURLToPath(new URL(`./${name}.js`, import.meta.url));
  const child = spawn(process.execPath, [...flags, program, ...arguments_], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the yardstick ended with ${code}`)));
  });
  return {
    child,
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

export interface Usage {
  readonly rssMb: number;
  /** CPU time of all threads so far, ms. */
  readonly cpuMs: number;
}

/** What a process uses now (proc(5): `VmRSS` of `status`, fields 14 and 15 of `stat` in ticks of 10 ms). */
export function usageOf(pid: number): Usage {
  const rssKb = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const parts = fields.split(' ');
  return { rssMb: rssKb / 1024, cpuMs: (Number(parts[11]) + Number(parts[12])) * 10 };
}
