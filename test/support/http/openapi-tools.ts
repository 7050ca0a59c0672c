// Other people's tools for OpenAPI documents, installed apart in test/openapi: found, run, and for prism kept running.
// They must never reach another host: no usage reports, no look for a newer version.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The folder of the tools and of their settings. */
export const toolsFolder = new URL('../../openapi/', import.meta.url).pathname;

/** What `requires` looks for. */
export const installedTools = 'test/openapi/node_modules';

const quiet = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

interface Run {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

function start(file: string, { args, env = {} }: Run): ChildProcess {
  return spawn(process.execPath, [file, ...args], {
    cwd: toolsFolder,
    env: { ...process.env, ...quiet, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a script of Node to its end; never blocks, because the service that it calls may run in this process. */
export function runScript(
  file: string,
  run: Run,
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = start(file, run);
    let output = '';
    const take = (chunk: Buffer): void => void (output += chunk.toString());
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, output }));
  });
}

/** Runs one of the tools in its folder. */
export const runTool = (name: string, args: readonly string[]) =>
  runScript(`${toolsFolder}node_modules/.bin/${name}`, { args });

export interface Proxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts prism in front of a service: an answer or request that the document does not allow becomes a failure. */
export async function startPrism(options: {
  readonly document: string;
  readonly service: string;
}): Promise<Proxy> {
  const { document, service } = options;
  const child = start(`${toolsFolder}node_modules/.bin/prism`, {
    args: ['proxy', '--errors', '--port', '0', document, service],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    const lines: string[] = [];
    const take = (line: string): void => {
      lines.push(line);
      const listening = /listening on (http:\S+)/.exec(line)?.[1];
      if (listening !== undefined) resolve(listening);
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', take);
    }
    void ended.then(() => reject(new Error(`prism did not start: ${lines.join('\n')}`)));
  });
  return {
    url,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
