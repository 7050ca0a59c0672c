// A serial bus of real ptys for system tests: socat pairs, the pymodbus slave, and a proxy that spoils answers. It
// must end every process it started, by its own handle.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { openSerialPort } from '../../../agent/adapters/serial-port.ts';
import type { ByteLink, SerialSettings } from '../../../src/ports.ts';
import { waitUntil } from '../machine/wait-until.ts';

export const serial = (path: string): SerialSettings => ({
  path,
  baudRate: 9600,
  dataBits: 8,
  parity: 'none',
  stopBits: 1,
});

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

/** Leaves no process behind when what it must do first fails. */
async function endOnError(child: ChildProcess, first: () => Promise<unknown>): Promise<void> {
  try {
    await first();
  } catch (thrown) {
    await end(child);
    throw thrown;
  }
}

export interface PtyPair {
  readonly near: string;
  readonly far: string;
  /** Stops and continues what connects the two: nothing is carried meanwhile. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  close(): Promise<void>;
}

/** Two connected ptys in `folder`; their names vanish when it is closed, as those of a pulled USB adapter. */
export async function ptyPair(folder: string, name: string): Promise<PtyPair> {
  const near = `${folder}/${name}-near`;
  const far = `${folder}/${name}-far`;
  const end1 = `pty,raw,echo=0,link=${near}`;
  const end2 = `pty,raw,echo=0,link=${far}`;
  const child = spawn('socat', [end1, end2], { stdio: 'ignore' });
  await endOnError(child, () => waitUntil('socat', () => existsSync(near) && existsSync(far)));
  const close = (): Promise<void> => {
    // First of all: the kernel gives the number of a closed pty to the next one, of whichever test, and an agent that looks
    // for its lost port must not find that one under this name.
    for (const path of [near, far]) rmSync(path, { force: true });
    return end(child);
  };
  return { near, far, signal: (signal) => void child.kill(signal), close };
}

export interface Slave {
  /** Coil writes that came over the bus, in order. */
  readonly writes: { readonly write: string; readonly address: number; readonly value: number }[];
  set(kind: 'input' | 'coil' | 'holding', address: number, value: number): Promise<void>;
  coil(address: number): Promise<boolean>;
  close(): Promise<void>;
}

export async function startSlave(python: string, path: string): Promise<Slave> {
  const script = new URL('./modbus-slave.py', import.meta.url).pathname;
  const child = spawn(python, [script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  const writes: Slave['writes'] = [];
  const waiting: ((value: number) => void)[] = [];
  let isReady = false;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const fact = JSON.parse(line) as { ready?: boolean; value: number; write?: string; address: number };
    if (fact.ready === true) isReady = true;
    else if (fact.write === undefined) waiting.shift()?.(fact.value);
    else writes.push({ write: fact.write, address: fact.address, value: fact.value });
  });
  const ask = (command: object): Promise<number> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      child.stdin.write(`${JSON.stringify(command)}\n`);
    });
  await endOnError(child, () => waitUntil('the pymodbus slave', () => isReady));
  return {
    writes,
    async set(kind, address, value) {
      await ask({ set: kind, address, value });
    },
    coil: async (address) => (await ask({ get: 'coil', address })) === 1,
    close: () => end(child),
  };
}

export interface FaultProxy {
  /** Share of answers that are spoilt, 0 to 1. */
  share: number;
  readonly spoilt: Record<'garbled' | 'cut' | 'lost' | 'late', number>;
  close(): Promise<void>;
}

/** Passes requests on whole; spoils `share` of the answers. `fraction` is a seeded source of numbers in [0, 1). */
export async function faultProxy(
  masterSide: string,
  slaveSide: string,
  fraction: () => number,
): Promise<FaultProxy> {
  let toMaster: ByteLink | null = null;
  const timers = new Set<NodeJS.Timeout>();
  const later = (ms: number, run: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
  };
  let held: number[] = [];
  const proxy: FaultProxy = {
    share: 0,
    spoilt: { garbled: 0, cut: 0, lost: 0, late: 0 },
    async close() {
      for (const timer of timers) clearTimeout(timer);
      await Promise.all([fromSlave.close(), toMaster?.close()]);
    },
  };
  const pass = () => {
    const answer = Uint8Array.from(held);
    held = [];
    if (fraction() >= proxy.share) return void toMaster?.write(answer);
    const kind = (['garbled', 'cut', 'lost', 'late'] as const)[Math.floor(fraction() * 4)] ?? 'lost';
    proxy.spoilt[kind] += 1;
    if (kind === 'lost') return;
    if (kind === 'late') return later(100 + fraction() * 650, () => void toMaster?.write(answer));
    if (kind === 'cut') {
      return void toMaster?.write(answer.subarray(0, 1 + Math.floor(fraction() * (answer.length - 1))));
    }
    const first = Math.floor(fraction() * answer.length);
    const second = (first + 1 + Math.floor(fraction() * (answer.length - 1))) % answer.length;
    for (const at of [first, second]) answer[at] = (answer[at] ?? 0) ^ (1 + Math.floor(fraction() * 255));
    toMaster?.write(answer);
  };
  const fromSlave = await openSerialPort(serial(slaveSide), {
    onBytes(bytes) {
      // An answer may come in pieces; a pause of 4 ms ends it.
      if (held.length === 0) later(4, pass);
      held.push(...bytes);
    },
    onDown() {},
  });
  toMaster = await openSerialPort(serial(masterSide), {
    onBytes: (bytes) => void fromSlave.write(bytes),
    onDown() {},
  });
  return proxy;
}
