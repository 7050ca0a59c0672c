// The built simulator as a child process: what it says, and with which code it ends. Whatever still runs is ended by `killAll`.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export const simulatorProgram = new URL('../../../dist/simulator/main.js', import.meta.url).pathname;

export const isSimulatorBuilt = existsSync(simulatorProgram);
/** For the title of what needs it. */
export const simulatorNote = isSimulatorBuilt ? '' : ' [skipped: npm run build]';

export interface Ended {
  readonly code: number | null;
  readonly text: string;
}

const running = new Set<ChildProcess>();

/**
 * Runs it to its end; `onText` may do something meanwhile.
 * @param cwd folder in which it runs; that of the test unless given.
 * @param program another build of it.
 */
export function simulate(
  args: readonly string[],
  onText: (text: string, pid: number) => void = () => undefined,
  cwd?: string,
  program = simulatorProgram,
): Promise<Ended> {
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  const child = spawn(process.execPath, [program, ...args], {
    stdio: [...stdio],
    ...(cwd === undefined ? {} : { cwd }),
  });
  running.add(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      onText(text, child.pid ?? 0);
    });
  }
  return new Promise((done) =>
    child.once('close', (code) => {
      running.delete(child);
      done({ code, text });
    }),
  );
}

/** Does it once, when that text has come. */
export function onceSaid(words: string, act: (pid: number) => void): (text: string, pid: number) => void {
  let isDone = false;
  return (text, pid) => {
    if (isDone || !text.includes(words)) return;
    isDone = true;
    act(pid);
  };
}

/** Ends whatever still runs. */
export function killSimulators(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Ids of the processes of this machine that are so. */
export function processesWhere(
  is: (of: { readonly words: readonly string[]; readonly parent: number }) => boolean,
): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
        // The name of the program in brackets may hold spaces (proc(5)).
        const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
          .replace(/^.*\) /, '')
          .split(' ');
        return is({ words, parent: Number(fields[1]) });
      } catch {
        return false; // it has just ended
      }
    })
    .map(Number);
}
