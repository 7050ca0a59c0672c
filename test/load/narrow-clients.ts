// Clients of a bench at the end of narrow lines (`narrow-clients.py`, as Node cannot narrow a window): what they do not read
// waits in the server, as it does in front of a modem.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { checkout } from '../support/machine/checkout.ts';
import { greetingOf, subscriptionOf, topicOf } from './raw-fleet-client.ts';

export interface NarrowClient {
  /** Of its device. */
  readonly index: number;
  /** Bytes it reads in a second; null: whatever comes. */
  readonly readPerS: number | null;
}

export interface NarrowWish {
  readonly port: number;
  readonly clients: readonly NarrowClient[];
  /** Messages that each publishes in a second, however few of them are answered. */
  readonly perS: number;
}

export interface NarrowResult {
  readonly sent: number;
  /** Times that one of them lost its connection. */
  readonly dropped: number;
}

const endMs = 10_000;

/** Starts them; `end` gives what became of them. */
export async function startNarrowClients({ port, clients, perS }: NarrowWish) {
  const script = new URL('test/load/narrow-clients.py', checkout).pathname;
  const child = spawn('python3', [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const wish = {
    port,
    perS,
    clients: clients.map(({ index, readPerS }) => ({
      topic: topicOf(index, 'events'),
      greeting: greetingOf(index).toString('hex'),
      subscription: subscriptionOf(index).toString('hex'),
      readPerS,
    })),
  };
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify(wish)}\n`);
  if ((await lines.next()).value !== 'ready') throw new Error(`${script} did not start`);
  return {
    async end(): Promise<NarrowResult> {
      const timer = setTimeout(() => child.kill('SIGKILL'), endMs);
      child.stdin.end();
      const { value } = await lines.next();
      clearTimeout(timer);
      return JSON.parse(String(value)) as NarrowResult;
    },
  };
}
