// The demo (`npm start`) as a process: the real broker and the real simulated fleet, with a password that the test knows.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { freePort } from '../machine/free-port.ts';
import { temporaryFolder } from '../machine/temporary-folder.ts';
import { waitUntil } from '../machine/wait-until.ts';

const program = new URL('../../../dist/simulator/main.js', import.meta.url).pathname;

export interface DemoProgram {
  /** `http://127.0.0.1:<port>` */
  readonly base: string;
  readonly password: string;
  /** Folder of its state. */
  readonly state: string;
  said(): string;
  /** Calls an operation below `/api/v1`. @returns its answer; an error has the member `error`. */
  call(path: string, options?: { readonly token?: string; readonly body?: unknown }): Promise<Answer>;
  login(userID: string, password: string): Promise<string>;
  /** HTTP and MQTT. */
  readonly ports: readonly [number, number];
  /** Ends it as Ctrl-C does. */
  stop(): Promise<void>;
  /** Stops the broker as a cable that is pulled does: its connections stay open, and nothing comes. @returns lets it go on; may be called twice. */
  silence(): () => void;
  /** Ends broker and agents at once (SIGKILL). */
  kill(): Promise<void>;
}

export type Answer = Readonly<Record<string, unknown>>;

/** The process of the broker, which the demo starts. */
function brokerOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('broker'));
  if (found === undefined) throw new Error(`The demo ${pid} has no broker among ${children.join(', ')}`);
  return found;
}

/** Ends it when it does not serve. */
async function served(child: ChildProcess, vehicles: number, said: () => string): Promise<void> {
  const isServing = new RegExp(`${vehicles} of ${vehicles} online, .* [1-9]\\d* events acknowledged`);
  const look = (): boolean => {
    if (child.exitCode !== null) throw new Error(`The demo ended; it said:\n${said()}`);
    return isServing.test(said());
  };
  await waitUntil('vehicles online', look, { seen: said }).catch((thrown: unknown) => {
    child.kill('SIGKILL');
    throw thrown;
  });
}

/**
 * Starts a demo in a folder of its own and waits until all vehicles are online.
 * @param before whose state and ports it takes over, after its end.
 */
export async function startDemoProgram(vehicles: number, before?: DemoProgram): Promise<DemoProgram> {
  const [httpPort, mqttPort] = before?.ports ?? [await freePort(), await freePort()];
  const password = 'seven lamps over the yard';
  const state = before?.state ?? temporaryFolder('console-demo');
  const args = ['demo', '--state', state, '--vehicles', String(vehicles)];
  const ports = ['--http-port', String(httpPort), '--mqtt-port', String(mqttPort)];
  const child = spawn(process.execPath, [program, ...args, ...ports], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, FLEETWARD_DEMO_PASSWORD: password },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const ended = new Promise<void>((done) => void child.once('close', () => done()));
  const base = `http://127.0.0.1:${httpPort}`;
  const call: DemoProgram['call'] = async (path, { token, body } = {}) => {
    const answer = await fetch(`${base}/api/v1/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(token === undefined ? {} : { authorization: token }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Answer;
  };
  await served(child, vehicles, () => text);
  return {
    base,
    password,
    state,
    ports: [httpPort, mqttPort],
    said: () => text,
    call,
    async login(userID, secret) {
      const { token } = await call('auth/login', { body: { accountID: 'demo', userID, password: secret } });
      return String(token);
    },
    async stop() {
      if (child.exitCode === null) child.kill('SIGINT');
      await ended;
    },
    silence() {
      const pid = brokerOf(child.pid ?? 0);
      process.kill(pid, 'SIGSTOP');
      let isStopped = true;
      return () => {
        if (isStopped) process.kill(pid, 'SIGCONT');
        isStopped = false;
      };
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** As if every user had had role and password for long, and were confirmed. @param but one whom nobody confirmed. */
export function settleUsers({ state }: DemoProgram, but = ''): void {
  const db = new Sqlite(join(state, 'fleetward.db'));
  db.prepare('UPDATE users SET granted_s = 1, granted_by = NULL WHERE user_id <> ?').run(but);
  db.close();
}

/** A vehicle of the simulated world as it is; undefined: there is none. */
export async function worldOf(
  { call }: DemoProgram,
  token: string,
  deviceID: string,
): Promise<Answer | undefined> {
  const { vehicles } = await call('practice/fleet/authorization', { token });
  return (vehicles as readonly Answer[]).find((one) => one['deviceID'] === deviceID);
}
