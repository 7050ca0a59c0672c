// A unit at the desk: the agent's program, a broker that knows its device, and a bench in place of its hardware.
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { type BenchProgram, startBenchProgram } from './bench-program.ts';
import { type BrokerSetup, provision, startBroker, writeAgentConfig } from './fleet-processes.ts';

const main = new URL('../../../dist/agent/main.js', import.meta.url).pathname;

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Finding {
  readonly id: string;
  readonly verdict: string;
  readonly seen: string;
  readonly todo: string;
}

/** Runs the agent's program to its end, or to that of the test. @param given what is typed, and who holds the process meanwhile. */
export function runAgent(
  args: readonly string[],
  given: { input?: string; onChild?: (child: ChildProcess) => void } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.on('error', () => undefined);
  if (given.input !== undefined) child.stdin.end(given.input);
  given.onChild?.(child);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

/** What `doctor --json` found. */
export const findings = (ended: Ended): readonly Finding[] =>
  (JSON.parse(ended.out) as { results: readonly Finding[] }).results;
/** Those of one check. */
export const findingsOf = (results: readonly Finding[], id: string): readonly Finding[] =>
  results.filter((result) => result.id === id);

export interface Desk {
  readonly setup: BrokerSetup;
  readonly bench: BenchProgram;
  /** Path of the agent's settings. */
  readonly config: string;
  close(): Promise<void>;
}

/** @param folder for everything that they write; removed in the end. */
export async function openDesk(folder: string): Promise<Desk> {
  const setup: BrokerSetup = { folder, password: 'a password for this test', httpPort: 0, mqttPort: 0 };
  const { secret, publicKey } = provision(setup, 'truck-1');
  const broker = await startBroker(setup);
  const profile = 'waveshare-io-analog';
  const bench = await startBenchProgram(folder, profile);
  const { board: boardPort, gnss: gnssPort } = bench;
  const { mqttPort } = setup;
  const config = writeAgentConfig({ folder, secret, publicKey, mqttPort, profile, boardPort, gnssPort });
  return {
    setup,
    bench,
    config,
    async close() {
      broker.signal('SIGKILL');
      await bench.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
