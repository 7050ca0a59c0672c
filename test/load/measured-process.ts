// Processes of a bench as objects: the broker or its yardstick with a probe inside, and processes full of clients. Each is
// asked over its IPC channel and answers once; each is ended by whoever started it.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { FleetAnswers } from './fleet-orders.ts';
import type { ProbeAnswer } from './process-probe.ts';

// As built: this file is dist/test/load/measured-process.js.
const program = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const startMs = 60_000;

interface Reply {
  readonly id: number;
  readonly answer?: unknown;
  readonly fault?: string;
}

/** Asks a child and waits for its answer; ends with it. */
function createAsker(child: ChildProcess) {
  let lastId = 0;
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  child.on('message', ({ id, answer, fault }: Reply) => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (fault !== undefined) one?.reject(new Error(fault));
    else one?.resolve(answer);
  });
  child.once('exit', (code) => {
    for (const one of waiting.values()) one.reject(new Error(`a process of the bench ended with ${code}`));
  });
  return (order: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      child.send({ id, order });
    });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}

/** Flags of Node as the service manager gives them to the broker. */
export const serviceFlags = ['--max-semi-space-size=32'] as const;

export interface Ready {
  readonly mqttPort: number;
  readonly httpPort?: number;
  readonly metricsPort?: number;
}

export interface MeasuredProcess extends Ready {
  readonly pid: number;
  look(): Promise<ProbeAnswer>;
  /** After the collection of garbage. */
  collect(): Promise<ProbeAnswer>;
  close(): Promise<void>;
}

/** Starts a program that says `broker_ready`, with the probe inside. @param nodeFlags further flags of Node itself. */
export async function startMeasured(
  path: string,
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<MeasuredProcess> {
  const flags = ['--expose-gc', '--import', program('./process-probe.js'), ...nodeFlags];
  const child = spawn(process.execPath, [...flags, program(path), ...args], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('the process has no output');
  const lines = createInterface({ input: child.stdout });
  const ready = await new Promise<Ready>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${path} is not ready after ${startMs} ms`)), startMs);
    lines.on('line', (line) => {
      if (!line.includes('"broker_ready"')) return;
      clearTimeout(timer);
      resolve(JSON.parse(line) as Ready);
    });
    child.once('exit', (code) => reject(new Error(`${path} ended with ${code}`)));
  });
  const ask = createAsker(child);
  return {
    ...ready,
    pid: child.pid ?? 0,
    look: async () => (await ask('look')) as ProbeAnswer,
    collect: async () => (await ask('collect')) as ProbeAnswer,
    close: () => end(child),
  };
}

/** A process of clients: each order is answered once. */
export interface ClientsProcess<Answers> {
  readonly pid: number;
  ask<Order extends { readonly kind: keyof Answers }>(order: Order): Promise<Answers[Order['kind']]>;
  close(): Promise<void>;
}

export type FleetProcess = ClientsProcess<FleetAnswers>;

/** Starts a process that holds clients. @param niceness 19: it gets what is left of the cores. */
export async function startClients<Answers>(path: string, niceness = 0): Promise<ClientsProcess<Answers>> {
  const child = spawn('nice', ['-n', String(niceness), process.execPath, program(path)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) => reject(new Error(`the clients ended with ${code}`)));
  });
  const ask = createAsker(child);
  return {
    pid: child.pid ?? 0,
    ask: async (order) => (await ask(order)) as never,
    close: () => end(child),
  };
}

/** In a process of clients: carries out each order, and ends with its parent. */
export function serveOrders(obey: (order: never) => Promise<unknown>): void {
  process.on('message', ({ id, order }: { readonly id: number; readonly order: never }) => {
    obey(order).then(
      (answer) => process.send?.({ id, answer }),
      (thrown: unknown) => process.send?.({ id, fault: String(thrown) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.({ id: 0, answer: null });
}

export const startFleetProcess = (): Promise<FleetProcess> => startClients<FleetAnswers>('./raw-fleet.js');
