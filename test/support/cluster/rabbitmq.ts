// RabbitMQ nodes of a test's own, on the configuration that the repository ships (systemd/rabbitmq), with other ports, names
// and folders: started, killed without mercy, started again, and ended with the test by their process ids.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
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
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority } from '../broker/certificates.ts';
import { checkout } from '../machine/checkout.ts';
import { freePort, freePorts } from '../machine/free-port.ts';
import { requires } from '../machine/requires.ts';

/** Debian's wrappers in the path change the user; these do not. */
const programs = '/usr/lib/rabbitmq/bin';
const shipped = new URL('systemd/rabbitmq/', checkout).pathname;

/** Null: RabbitMQ is there. Else a text for the name of the skipped test. */
export const rabbitmqMissing: string | null = existsSync(join(programs, 'rabbitmq-server'))
  ? null
  : requires({ commands: ['rabbitmq-server'], debian: ['rabbitmq-server'] }).missing;

export const bridgeUser = { name: 'fleetward-bridge', password: 'bridge-word-4711' } as const;
export const managementUser = { name: 'fleetward-management', password: 'management-word-4711' } as const;

export interface RabbitNode {
  readonly name: string;
  readonly amqp: number;
  readonly amqps: number;
  readonly mqtt: number;
  readonly management: number;
  readonly managementTls: number;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface RabbitBench {
  readonly nodes: readonly RabbitNode[];
  readonly tls: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  /** `rabbitmqctl` at the first node that runs. */
  ctl(...args: readonly string[]): string;
  close(): Promise<void>;
}

export interface RabbitSetup {
  readonly count: 1 | 3;
  /** Port of loopback at which each node asks about each login. */
  readonly authPort: number;
  /** Lines that take the place of those with the same key, or are added. */
  readonly changes?: Readonly<Record<string, string>>;
  /** Schedulers of a node, which do not spin: the machine is shared. One unless given. */
  readonly schedulers?: number;
}

/** The shipped configuration with some keys changed; `null` removes one. */
function configure(text: string, changes: Readonly<Record<string, string | null>>): string {
  const left = text.split('\n').filter((line) => !((line.split(' =')[0] ?? '') in changes));
  const added = Object.entries(changes).flatMap(([key, value]) =>
    value === null ? [] : [`${key} = ${value}`],
  );
  return `${[...left, ...added].join('\n')}\n`;
}

interface Place {
  readonly folder: string;
  readonly epmd: number;
  readonly names: readonly string[];
  readonly setup: RabbitSetup;
}

interface Ports {
  readonly amqp: number;
  readonly amqps: number;
  readonly mqtt: number;
  readonly mqtts: number;
  readonly management: number;
  readonly managementTls: number;
  readonly prometheus: number;
  readonly distribution: number;
}

function writeConfig({ folder, names, setup }: Place, name: string, ports: Ports): string {
  const own = join(folder, name);
  mkdirSync(own);
  copyFileSync(join(shipped, 'enabled_plugins'), join(own, 'enabled_plugins'));
  const text = ['rabbitmq.conf', 'version-3.conf']
    .map((file) => readFileSync(join(shipped, file), 'utf8'))
    .join('\n')
    .replaceAll('/etc/rabbitmq', folder)
    .replaceAll('127.0.0.1:8083', `127.0.0.1:${setup.authPort}`);
  const cluster = 'cluster_formation.classic_config.nodes';
  const members = [1, 2, 3].map((at) => [
    `${cluster}.${at}`,
    setup.count === 1 ? null : `${names[at - 1]}@localhost`,
  ]);
  const plain = {
    'listeners.tcp': null,
    'listeners.tcp.1': `127.0.0.1:${ports.amqp}`,
    'listeners.ssl.default': null,
    'listeners.ssl.1': `127.0.0.1:${ports.amqps}`,
    'mqtt.listeners.tcp': null,
    'mqtt.listeners.tcp.1': `127.0.0.1:${ports.mqtt}`,
    'mqtt.listeners.ssl.default': null,
    'mqtt.listeners.ssl.1': `127.0.0.1:${ports.mqtts}`,
    'management.tcp.port': String(ports.management),
    'management.ssl.ip': '127.0.0.1',
    'management.ssl.port': String(ports.managementTls),
    'prometheus.tcp.ip': '127.0.0.1',
    'prometheus.tcp.port': String(ports.prometheus),
    'disk_free_limit.absolute': '50MB',
  };
  const single = setup.count === 1 ? { 'cluster_formation.peer_discovery_backend': null } : {};
  const changes = { ...plain, ...single, ...Object.fromEntries(members), ...setup.changes };
  writeFileSync(join(own, 'rabbitmq.conf'), configure(text, changes));
  return own;
}

/** The environment of the programs; nothing of this process's but the path. */
function environmentOf({ folder, epmd, setup }: Place, name: string, distribution: number) {
  const own = join(folder, name);
  const { schedulers = 1 } = setup;
  return {
    PATH: process.env['PATH'],
    HOME: folder,
    LANG: 'C.UTF-8',
    RABBITMQ_NODENAME: `${name}@localhost`,
    RABBITMQ_MNESIA_BASE: join(own, 'data'),
    RABBITMQ_LOG_BASE: join(own, 'log'),
    RABBITMQ_CONFIG_FILE: join(own, 'rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(own, 'none.config'),
    RABBITMQ_CONFIG_FILES: join(own, 'none'),
    RABBITMQ_CONF_ENV_FILE: join(own, 'none-env'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(own, 'enabled_plugins'),
    RABBITMQ_DIST_PORT: String(distribution),
    ERL_EPMD_PORT: String(epmd),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_MAX_PORTS: '8192',
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `+S ${schedulers}:${schedulers} +sbwt none -kernel inet_dist_use_interface {127,0,0,1}`,
  };
}

async function createNode(place: Place, name: string): Promise<RabbitNode> {
  const [amqp = 0, amqps = 0, mqtt = 0, mqtts = 0, management = 0, managementTls = 0, ...others] =
    await freePorts(8);
  const [prometheus = 0, distribution = 0] = others;
  const ports = { amqp, amqps, mqtt, mqtts, management, managementTls, prometheus, distribution };
  writeConfig(place, name, ports);
  const env = environmentOf(place, name, distribution);
  let child: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    const ending = child;
    child = null;
    if (ending?.pid === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = new Promise((resolve) => void ending.once('exit', resolve));
    // Its own process group: the shell, the node and what the node started.
    process.kill(-ending.pid, 'SIGKILL');
    await ended;
  };
  return {
    name,
    ...ports,
    kill,
    async start() {
      const started = spawn(join(programs, 'rabbitmq-server'), [], { env, detached: true, stdio: 'ignore' });
      child = started;
      for (let tries = 0; tries < 120 && started.exitCode === null; tries++) {
        await sleep(500);
        if (await isServing(amqp)) return;
      }
      await kill();
      throw new Error(`RabbitMQ node ${name} did not start: see ${join(place.folder, name, 'log')}`);
    },
  };
}

/** AMQP is the last to listen. */
function isServing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

/** What the runbook has an operator do once. */
const preparation: readonly (readonly string[])[] = [
  ['add_user', bridgeUser.name, bridgeUser.password],
  [
    'set_permissions',
    '-p',
    'fleet',
    bridgeUser.name,
    '^fleetward\\.',
    '^(fleetward\\.|amq\\.topic$)',
    '^(fleetward\\.|amq\\.topic$)',
  ],
  ['add_user', managementUser.name, managementUser.password],
  ['set_user_tags', managementUser.name, 'administrator'],
  ['delete_user', 'guest'],
];

/** A node that has just joined may not know at once what was done at another: the steps are then taken anew. */
async function prepare(ctl: RabbitBench['ctl'], tries = 5): Promise<void> {
  for (const args of preparation) {
    try {
      ctl(...args);
    } catch (thrown) {
      const isDone =
        /already exists|does not exist/.test(String(thrown)) && /add_user|delete_user/.test(args[0] ?? '');
      if (isDone) continue;
      if (tries <= 1) throw thrown;
      await sleep(1000);
      return prepare(ctl, tries - 1);
    }
  }
}

/** Starts the nodes; `close` must be called. Needs `rabbitmqMissing === null`. */
export async function startRabbit(setup: RabbitSetup): Promise<RabbitBench> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-rabbitmq-'));
  mkdirSync(join(folder, 'tls'));
  writeFileSync(join(folder, '.erlang.cookie'), `COOKIE${process.pid}`);
  chmodSync(join(folder, '.erlang.cookie'), 0o400);
  const authority = createAuthority(join(folder, 'tls'));
  const own = authority.issue('localhost', 1);
  const bridge = authority.issue(bridgeUser.name, 1);
  copyFileSync(authority.caFile, join(folder, 'tls/ca.pem'));
  copyFileSync(own.certFile, join(folder, 'tls/node.pem'));
  copyFileSync(own.keyFile, join(folder, 'tls/node-key.pem'));
  const epmd = await freePort();
  const names = ['mq1', 'mq2', 'mq3'].slice(0, setup.count).map((name) => `${name}-${epmd}`);
  const place: Place = { folder, epmd, names, setup };
  const mapper = spawn('epmd', ['-port', String(epmd), '-address', '127.0.0.1'], { stdio: 'ignore' });
  const nodes = await Promise.all(names.map((name) => createNode(place, name)));
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()));
    mapper.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  const ctl = (...args: readonly string[]): string => {
    const faults: string[] = [];
    for (const { name } of nodes) {
      const done = spawnSync(join(programs, 'rabbitmqctl'), ['-q', '-n', `${name}@localhost`, ...args], {
        env: environmentOf(place, name, 0),
        encoding: 'utf8',
        timeout: 30_000,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      if (done.status === 0) return done.stdout;
      faults.push(done.stderr.slice(0, 500));
    }
    throw new Error(`rabbitmqctl ${args[0]}: ${faults.join(' ')}`);
  };
  try {
    // One after the other: the second and third join the first.
    for (const node of nodes) await node.start();
    ctl('await_startup', '--timeout', '60');
    await prepare(ctl);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  const tls = { caFile: authority.caFile, certFile: bridge.certFile, keyFile: bridge.keyFile };
  return { nodes, tls, ctl, close };
}
