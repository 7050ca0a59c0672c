// A unit in the yard: the real agent beside simulated hardware on pseudo-terminals, enrolled by a code as an installer does it.
import { writeFileSync } from 'node:fs';
import { temporaryFolder } from '../machine/temporary-folder.ts';
import { waitUntil } from '../machine/wait-until.ts';
import { type Program, startProgram } from './fleet-processes.ts';

export interface YardUnit {
  /** Runs a command of the agent to its end, as typed: `fleetward-agent enrol --broker … --code …`. */
  type(command: string): Promise<{ readonly exitCode: number | null; readonly complaints: string }>;
  /** Starts the agent with what was enrolled. */
  start(): void;
  /** Plays the vehicle: `ignition on`, `panic press`. */
  play(line: string): Promise<void>;
  close(): Promise<void>;
}

export async function openYardUnit(): Promise<YardUnit> {
  const home = temporaryFolder('yard-unit');
  const config = `${home}/agent.toml`;
  const programs: Program[] = [];
  const begin = (...args: Parameters<typeof startProgram>): Program => {
    const program = startProgram(...args);
    programs.push(program);
    return program;
  };
  const bench = begin('simulator', [
    'hardware',
    '--board=waveshare-relay-d',
    `--link-board=${home}/board`,
    `--link-gnss=${home}/gnss`,
    '--control-port=0',
    '--json',
  ]);
  const seen = (): string => `${JSON.stringify(bench.lines.slice(-10))}${bench.complaints()}`;
  const { control } = await waitUntil('the bench', () => bench.lines.find((line) => 'control' in line), {
    seen,
  });
  writeFileSync(
    config,
    `[broker]
connectSpreadS = 0
[storage]
path = "${home}/outbox.db"
windowS = 1
[board]
profile = "waveshare-relay-d"
port = "${home}/board"
[gnss]
port = "${home}/gnss"
`,
  );
  return {
    async type(command) {
      const [program, ...args] = command.split(' ');
      if (program !== 'fleetward-agent') throw new Error(`no command of the agent: ${command}`);
      const run = begin('agent', [...args, '--config', config]);
      return { exitCode: await run.ended(), complaints: run.complaints() };
    },
    start: () => void begin('agent', ['start', '--config', config]),
    async play(line) {
      const { status } = await fetch(`${String(control)}/command`, { method: 'POST', body: line });
      if (status !== 200) throw new Error(`the bench refused "${line}": ${status}`);
    },
    async close() {
      for (const program of programs) program.signal('SIGKILL');
      await Promise.all(programs.map((program) => program.ended()));
    },
  };
}
