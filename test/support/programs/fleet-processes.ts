// The three programs as real processes from the build, for system tests: started, killed without mercy, started again
// on the same state. Plus the little HTTP client that a test needs.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { checkout } from '../machine/checkout.ts';
import { freePort } from '../machine/free-port.ts';
import { temporaryFolder } from '../machine/temporary-folder.ts';
import { waitUntil } from '../machine/wait-until.ts';

export const dist = new URL('dist/', checkout).pathname;

export interface LogLine {
  readonly msg: string;
  readonly level: number;
  readonly [field: string]: unknown;
}

export interface Program {
  readonly pid: number;
  readonly lines: LogLine[];
  /** What came on stderr; empty in a good run. */
  readonly complaints: () => string;
  readonly exitCode: () => number | null;
  signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT' | 'SIGHUP'): void;
  /** Resolves when the process is gone. */
  ended(): Promise<number | null>;
}

/** How Node itself is started: its own flags, variables beside those of this process, and another build than that of the checkout. */
export interface NodeSetup {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Ends with a slash. */
  readonly build?: string;
}

/** Starts one of our programs with these arguments. */
export function startProgram(
  name: 'agent' | 'broker' | 'simulator',
  args: readonly string[],
  node: NodeSetup = { flags: [], env: {} },
): Program {
  const command = [...node.flags, `${node.build ?? dist}${name}/main.js`, ...args];
  const child: ChildProcess = spawn(process.execPath, command, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...node.env },
  });
  const lines: LogLine[] = [];
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-10_000);
  });
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (lines.length > 20_000) lines.splice(0, 10_000);
      lines.push(line.startsWith('{') ? (JSON.parse(line) as LogLine) : { msg: line, level: 0 });
    });
  }
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return {
    pid: child.pid ?? 0,
    lines,
    complaints: () => complaints,
    exitCode: () => child.exitCode,
    signal: (signal) => void child.kill(signal),
    ended: () => ended,
  };
}

/** Runs a program to its end and gives its output; throws with its complaint when it fails. */
export function runProgram(
  name: 'agent' | 'broker' | 'simulator',
  args: readonly string[],
  input = '',
  build = dist,
): string {
  return execFileSync(process.execPath, [`${build}${name}/main.js`, ...args], {
    input,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

export interface BrokerSetup {
  readonly folder: string;
  readonly password: string;
  httpPort: number;
  mqttPort: number;
}

/** A folder of its own for a broker and what belongs to it; it is gone when the test file ends. */
export function createBrokerSetup(name: string): BrokerSetup {
  const folder = temporaryFolder(name);
  return { folder, password: 'correct horse battery staple', httpPort: 0, mqttPort: 0 };
}

/** Starts the broker on its folder's database; the first start takes free ports, later ones the same again, also after a kill. */
export async function startBroker(
  setup: BrokerSetup,
  flags: readonly string[] = [],
  env: NodeSetup['env'] = {},
  build = dist,
): Promise<Program> {
  if (setup.httpPort === 0) setup.httpPort = await freePort();
  if (setup.mqttPort === 0) setup.mqttPort = await freePort();
  const broker = startProgram(
    'broker',
    [
      'start',
      '--database',
      `${setup.folder}/fleet.db`,
      '--http-port',
      String(setup.httpPort),
      '--mqtt-port',
      String(setup.mqttPort),
      ...flags,
    ],
    { flags: [], env, build },
  );
  const ready = (): LogLine | undefined => broker.lines.find((line) => line.msg === 'broker_ready');
  const line = await waitUntil('the broker to be ready', () => ready() ?? broker.exitCode() !== null).catch(
    (thrown: unknown) => {
      broker.signal('SIGKILL');
      throw thrown;
    },
  );
  if (line === true) throw new Error(`the broker did not start: ${broker.complaints()}`);
  return broker;
}

/** An account with an administrator and a device with its secret, by the command line as in the README. */
export function provision(setup: BrokerSetup, deviceID: string): { secret: string; publicKey: string } {
  const database = ['--database', `${setup.folder}/fleet.db`];
  runProgram(
    'broker',
    ['account', 'create', 'demo', '--admin', 'admin', '--password-file', '-', ...database],
    setup.password,
  );
  return JSON.parse(runProgram('broker', ['device', 'create', 'demo', deviceID, '--json', ...database])) as {
    secret: string;
    publicKey: string;
  };
}

export interface AgentSetup {
  readonly folder: string;
  /** `truck-1` unless given. */
  readonly deviceID?: string;
  readonly secret: string;
  readonly publicKey: string;
  readonly mqttPort: number;
  /** `waveshare-relay-d` unless given. */
  readonly profile?: string;
  readonly boardPort: string;
  readonly gnssPort: string;
}

/** Writes agent.toml and the secret file; returns the path. */
export function writeAgentConfig(setup: AgentSetup): string {
  const { deviceID = 'truck-1', profile = 'waveshare-relay-d' } = setup;
  const file = `${setup.folder}/agent.toml`;
  writeFileSync(`${setup.folder}/secret`, setup.secret, { mode: 0o600 });
  writeFileSync(
    file,
    `[device]
account = "demo"
id = "${deviceID}"
[broker]
url = "mqtt://127.0.0.1:${setup.mqttPort}"
secretFile = "${setup.folder}/secret"
publicKey = "${setup.publicKey}"
connectSpreadS = 0
[storage]
path = "${setup.folder}/outbox.db"
windowS = 1
[board]
profile = "${profile}"
port = "${setup.boardPort}"
[gnss]
port = "${setup.gnssPort}"
[reporting]
movingS = 1
stoppedS = 10
`,
  );
  return file;
}

export interface Api {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
}

/** Logs in and speaks JSON; a failing answer throws with its body. */
export async function openApi(setup: BrokerSetup): Promise<Api> {
  const base = `http://127.0.0.1:${setup.httpPort}/api/v1`;
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const response = await fetch(`${base}${path}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  };
  const json = { 'content-type': 'application/json' };
  const login = { accountID: 'demo', userID: 'admin', password: setup.password };
  const { token } = await call<{ token: string }>('/auth/login', {
    method: 'POST',
    headers: json,
    body: JSON.stringify(login),
  });
  return {
    get: (path) => call(path, { headers: { authorization: token } }),
    post: (path, body) =>
      call(path, { method: 'POST', headers: { ...json, authorization: token }, body: JSON.stringify(body) }),
  };
}
