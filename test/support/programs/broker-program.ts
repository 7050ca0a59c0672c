// The built broker program, or another build of it, as a child process in a folder of its own: what it says, and with which code it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const built = fileURLToPath(new URL('../../../dist/broker/main.js', import.meta.url));

/** Starts programs in `folder`, with nothing of the environment but the path. */
export function createBrokerProgram(folder: string, program = built) {
  const running = new Set<ChildProcess>();
  const launch = (args: readonly string[]) => {
    const env = { PATH: process.env['PATH'] };
    const child = spawn(process.execPath, [program, ...args], { cwd: folder, env });
    running.add(child);
    const output = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (part: string) => void (output.out += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => void (output.err += part));
    const ended = new Promise<number | null>((resolve) => {
      child.on('close', (code) => {
        running.delete(child);
        resolve(code);
      });
    });
    return { child, output, ended };
  };
  return {
    launch,
    /** Runs to the end. */
    async run(args: readonly string[], input = '') {
      const { child, output, ended } = launch(args);
      child.stdin.end(input);
      return { code: await ended, ...output };
    },
    /** Ends whatever still runs. */
    killAll(): void {
      for (const child of running) child.kill('SIGKILL');
    },
  };
}
