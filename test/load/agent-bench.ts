// The agent bench: sections that can be chosen, each measured against a baseline of the same minute. It says which tools a
// section lacks instead of leaving it out in silence.
import { requires } from '../support/machine/requires.ts';
import { benchBus } from './agent-bus.ts';
import { benchDrain } from './agent-drain.ts';
import { type BenchResult, type Figure, onMachine, type Say } from './agent-figures.ts';
import { benchFootprint, benchParked } from './agent-footprint.ts';
import { benchPanic } from './agent-panic.ts';
import { benchStart } from './agent-start.ts';
import { benchStorage } from './agent-storage.ts';
import { benchWire } from './agent-wire.ts';

export const sections = ['wire', 'storage', 'footprint', 'parked', 'bus', 'start', 'panic', 'drain'] as const;
export type Section = (typeof sections)[number];

export interface AgentBenchOptions {
  readonly sections: readonly Section[];
  /** Of footprint, parked and bus. */
  readonly minutes: number;
  readonly pollMs: number;
  readonly starts: number;
  readonly presses: number;
  /** Events in the queue of `drain`, and in the long outbox of `start`. */
  readonly queued: number;
  readonly say: Say;
}

const needs: Readonly<Record<Section, string | null>> = {
  wire: null,
  storage: 'strace',
  footprint: 'socat',
  parked: 'socat',
  bus: 'socat',
  start: 'socat',
  panic: 'socat',
  drain: 'socat',
};

async function run(section: Section, options: AgentBenchOptions): Promise<readonly Figure[]> {
  const { say } = options;
  switch (section) {
    case 'wire':
      return benchWire(say);
    case 'storage':
      return benchStorage(say);
    case 'footprint':
      return benchFootprint(options, say);
    case 'parked':
      return benchParked(options, say);
    case 'bus':
      return benchBus(options, say);
    case 'start':
      return benchStart(options, say);
    case 'panic':
      return benchPanic(options, say);
    case 'drain':
      return benchDrain(options, say);
  }
}

/**
 * Measures the chosen sections, one after the other.
 * @throws Error when a tool is missing or a program does not start; what was measured before it is lost.
 */
export async function benchAgent(options: AgentBenchOptions): Promise<BenchResult> {
  const tools = new Set(options.sections.flatMap((section) => needs[section] ?? []));
  for (const tool of tools) {
    const { missing } = requires({ commands: [tool], debian: [tool] });
    if (missing !== null) throw new Error(missing);
  }
  return onMachine(async () => {
    const figures: Figure[] = [];
    for (const section of sections) {
      if (options.sections.includes(section)) figures.push(...(await run(section, options)));
    }
    return figures;
  });
}
