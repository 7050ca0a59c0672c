// From the start of the process to its first poll on the board's wire, without a broker, with an empty outbox and with a
// long one; beside it the start of a bare Node process that loads the same packages.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPty } from '../../simulator/hardware/pty.ts';
import { generateSigningKey } from '../../src/adapters/signing.ts';
import { startProgram } from '../support/programs/fleet-processes.ts';
import { fillOutbox } from './agent-backlog.ts';
import { type Figure, percentile, type Say } from './agent-figures.ts';
import { readServiceNode, startBare, writeAgentFile } from './agent-rig.ts';

export interface StartOptions {
  readonly starts: number;
  /** Records in the long outbox. */
  readonly queued: number;
}

const goalMs = 2000;
const mostMs = 30_000;

/** Milliseconds from the start of the process to the first byte on the board's wire. */
async function startOnce(folder: string, config: string): Promise<number> {
  let onFirst: (atMs: number) => void = () => undefined;
  const first = new Promise<number>((resolve) => {
    onFirst = resolve;
  });
  const lost = (reason: string): void => void process.stderr.write(`start: a pty is gone: ${reason}\n`);
  const pty = (name: string, onBytes: () => void) =>
    openPty({ linkPath: join(folder, name), onBytes, onLost: lost });
  const board = await pty('ttyBoard', () => onFirst(performance.now()));
  const gnss = await pty('ttyGnss', () => undefined);
  const startMs = performance.now();
  const agent = startProgram('agent', ['start', '--config', config], readServiceNode());
  try {
    const reached = await Promise.race([first, agent.ended(), sleep(mostMs, null, { ref: false })]);
    if (typeof reached !== 'number' || agent.exitCode() !== null) {
      throw new Error(`the agent polled nothing within ${mostMs} ms: ${agent.complaints()}`);
    }
    return reached - startMs;
  } finally {
    agent.signal('SIGKILL');
    await agent.ended();
    await Promise.all([board.close(), gnss.close()]);
  }
}

async function startBareOnce(): Promise<number> {
  const startMs = performance.now();
  const bare = await startBare('bare-agent');
  const tookMs = performance.now() - startMs;
  await bare.close();
  return tookMs;
}

/** Measures starts, ours and bare in turn. Needs socat. */
export async function benchStart({ starts, queued }: StartOptions, say: Say): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-start-'));
  try {
    // Nobody listens there: a start must not depend on a network.
    const { publicKey } = generateSigningKey();
    const file = writeAgentFile({ folder, mqttPort: 1, secret: 'x'.repeat(32), publicKey });
    const figures: Figure[] = [];
    for (const isLong of [false, true]) {
      const name = isLong ? `first poll, ${queued.toLocaleString('en')} queued` : 'first poll, a new outbox';
      say(`start: ${name}, ${starts} times`);
      if (isLong) await fillOutbox(file.outbox, { count: queued, say });
      const [ours, bare]: [number[], number[]] = [[], []];
      for (let turn = 0; turn < starts; turn++) {
        bare.push(await startBareOnce());
        ours.push(await startOnce(folder, file.path));
      }
      const baseline = {
        name: 'Node until the same packages are loaded',
        value: percentile(bare, 0.5),
      };
      figures.push(
        {
          section: 'start',
          name: `${name}, median`,
          unit: 'ms',
          value: percentile(ours, 0.5),
          baseline,
          goal: goalMs,
        },
        { section: 'start', name: `${name}, longest`, unit: 'ms', value: Math.max(...ours), goal: goalMs },
      );
    }
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
