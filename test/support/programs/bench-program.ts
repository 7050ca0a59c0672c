// The desk bench as a process: a simulated board and receiver on two pseudo-terminals, operated by HTTP.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { BenchState } from '../../../simulator/bench/bench-state.ts';
import { waitUntil } from '../machine/wait-until.ts';

export interface BenchProgram {
  readonly board: string;
  readonly gnss: string;
  /** `http://127.0.0.1:<port>` */
  readonly control: string;
  command(line: string): Promise<{ readonly said: string; readonly state: BenchState }>;
  close(): Promise<void>;
}

/** @param boardName as of `hardware --board`. @param more further options. */
export async function startBenchProgram(
  folder: string,
  boardName: string,
  more: readonly string[] = [],
): Promise<BenchProgram> {
  const program = new URL('../../../dist/simulator/main.js', import.meta.url).pathname;
  const links = ['--link-board', join(folder, 'board'), '--link-gnss', join(folder, 'gnss')];
  const args = [
    program,
    'hardware',
    '--board',
    boardName,
    ...links,
    '--control-port',
    '0',
    '--json',
    ...more,
  ];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const line = (): string | undefined => /^\{"event":"ready".*\}$/m.exec(said)?.[0];
  const close = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  const ready = await waitUntil('the bench', line, { seen: () => said }).catch(async (thrown: unknown) => {
    await close('SIGTERM');
    throw thrown;
  });
  const { board, gnss, control } = JSON.parse(ready) as {
    board: { path: string };
    gnss: { path: string };
    control: string;
  };
  return {
    board: board.path,
    gnss: gnss.path,
    control,
    async command(text) {
      const answer = await fetch(`${control}/command`, { method: 'POST', body: text });
      if (!answer.ok) throw new Error(`${text}: ${await answer.text()}`);
      return (await answer.json()) as Awaited<ReturnType<BenchProgram['command']>>;
    },
    close: () => close('SIGINT'),
  };
}
