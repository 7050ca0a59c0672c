// A broker as a child process: the real program from this build, set up through its command line. It never outlives this process; when
// it dies, the last lines of its log are shown.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { AppError, errorKinds, messageOf } from '../src/core/errors.ts';
import { endWithParentArgs, holdPipe } from './end-with-parent.ts';

export interface BrokerProcessOptions {
  /** Empty: the command takes none. */
  readonly database: string;
  readonly httpPort: number;
  readonly mqttPort: number;
  /** Port of its metrics; none unless given. */
  readonly metricsPort?: number;
  readonly logFile: string;
  /** Answers what the broker asks this process, its parent; without it there is no channel between them. */
  readonly onRequest?: (request: unknown) => Promise<unknown>;
  /** Further flags of `start`. */
  readonly flags?: readonly string[];
  /** For the child; without any FLEETWARD_ variable, so that a shell's settings do not change the demo. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface BrokerProcess {
  /** Resolves with the reason when the broker ends without `close` or `kill`. */
  readonly died: Promise<string>;
  /** SIGTERM, then SIGKILL after 4 s. */
  close(): Promise<void>;
  /** At once. */
  kill(): void;
}

/** For a broker whose load is a test: it floods on purpose. */
export const noEventLimits = ['--ingest-device-events-per-s=0', '--ingest-account-events-per-s=0'] as const;

const program = fileURLToPath(new URL('../broker/main.js', import.meta.url));
const host = '127.0.0.1';
const readyTimeoutMs = 20_000;
const readyPollMs = 100;
const stopTimeoutMs = 4000;
const cliTimeoutMs = 30_000;

function cleanEnvironment(environment: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('FLEETWARD_')));
}

/** Rejects with AppError `port_in_use` that names the flag to change it. */
export async function assertPortFree(port: number, flag: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      const hint = `It may be a demo that still runs. Choose another one: npm start -- --${flag} ${port < 65_000 ? port + 10 : port - 10}`;
      fail(
        isTaken
          ? new AppError('port_in_use', `Port ${port} is taken by another program`, { hint })
          : new AppError('unavailable', `Port ${port} cannot be used: ${error.message}`, { hint }),
      );
    });
    server.listen(port, host, () => done());
  });
  await new Promise<void>((done) => server.close(() => done()));
}

/**
 * Runs one command of the broker to its end; resolves to its output. Rejects with AppError `unavailable` that carries what it
 * said on stderr.
 */
export function runBrokerCommand(
  options: BrokerProcessOptions,
  args: readonly string[],
  input = '',
): Promise<string> {
  const database = options.database === '' ? [] : ['--database', options.database];
  const child = spawn(process.execPath, [program, ...args, ...database], {
    env: cleanEnvironment(options.environment),
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: cliTimeoutMs,
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.out = `${said.out}${chunk.toString('utf8')}`.slice(-65_536);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.err = `${said.err}${chunk.toString('utf8')}`.slice(-4096);
  });
  child.stdin.on('error', () => undefined); // it ended before it read its input: see the exit code
  child.stdin.end(input);
  return new Promise((done, fail) => {
    child.once('error', (error) => fail(new AppError('internal', `${program}: ${error.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0) done(said.out);
      else
        fail(
          new AppError(
            code === errorKinds.conflict.exitCode ? 'conflict' : 'unavailable',
            `broker ${args[0]} ${args[1]} failed (${signal ?? code}): ${said.err.trim()}`,
          ),
        );
    });
  });
}

async function lastWords(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-5).join('\n  ');
}

async function isReady(httpPort: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://${host}:${httpPort}/readyz`, { signal: AbortSignal.timeout(2000) });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function awaitReady(options: BrokerProcessOptions, child: ChildProcess): Promise<void> {
  for (let waitedMs = 0; waitedMs < readyTimeoutMs; waitedMs += readyPollMs) {
    if (child.exitCode !== null || child.signalCode !== null) {
      const words = await lastWords(options.logFile);
      throw new AppError(
        'unavailable',
        `The broker did not start (${child.signalCode ?? child.exitCode}):\n  ${words}`,
      );
    }
    if (await isReady(options.httpPort)) return;
    await pause(readyPollMs);
  }
  child.kill('SIGKILL');
  throw new AppError(
    'unavailable',
    `The broker was not ready within ${readyTimeoutMs / 1000} s; see ${options.logFile}`,
  );
}

/** Answers the child over its channel, an error with its code and its words. */
function answerRequests(child: ChildProcess, onRequest: (request: unknown) => Promise<unknown>): void {
  const answerOf = async (practice: unknown, request: unknown) => {
    try {
      return { practice, ok: await onRequest(request) };
    } catch (thrown) {
      const { code, hint } = thrown instanceof AppError ? thrown : new AppError('internal', '');
      return {
        practice,
        error: { code, message: messageOf(thrown), ...(hint === undefined ? {} : { hint }) },
      };
    }
  };
  const answer = async (practice: unknown, request: unknown): Promise<void> => {
    const said = await answerOf(practice, request);
    // The child may have ended meanwhile.
    if (child.connected) child.send(said, () => undefined);
  };
  child.on('message', (message) => {
    const { practice, request } = message as { readonly practice?: unknown; readonly request?: unknown };
    void answer(practice, request);
  });
  child.channel?.unref();
}

/** Starts the broker and waits until it serves. Rejects with AppError `unavailable` and the last lines of its log. */
export async function startBrokerProcess(options: BrokerProcessOptions): Promise<BrokerProcess> {
  const { httpPort, mqttPort, metricsPort } = options;
  const figures = metricsPort === undefined ? [] : ['--metrics-port', String(metricsPort)];
  const ports = ['--http-port', String(httpPort), '--mqtt-port', String(mqttPort), ...figures];
  const log = openSync(options.logFile, 'w', 0o600);
  const args = [
    ...endWithParentArgs,
    program,
    'start',
    '--database',
    options.database,
    ...ports,
    ...(options.flags ?? []),
  ];
  const child = spawn(process.execPath, args, {
    env: cleanEnvironment(options.environment),
    stdio: ['ignore', log, log, 'pipe', ...(options.onRequest === undefined ? [] : ['ipc' as const])],
    detached: true, // Ctrl-C stops the vehicles first: the broker must still take their last reports
  });
  closeSync(log);
  holdPipe(child);
  if (options.onRequest !== undefined) answerRequests(child, options.onRequest);
  let isStopping = false;
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;
  const kill = (): void => {
    isStopping = true;
    if (isRunning()) child.kill('SIGKILL');
  };
  process.on('exit', kill); // after SIGKILL of this process, the held pipe ends the child
  const ended = new Promise<string>((done) => {
    child.once('error', (error) => done(messageOf(error)));
    child.once('exit', (code, signal) => done(String(signal ?? code)));
  });
  const watch = async (): Promise<string> => {
    const how = await ended;
    if (isStopping) return new Promise<string>(() => undefined);
    return `The broker ended (${how}):\n  ${await lastWords(options.logFile)}`;
  };
  const died = watch();
  await awaitReady(options, child);
  return {
    died,
    async close() {
      isStopping = true;
      process.off('exit', kill);
      if (!isRunning()) return;
      child.kill('SIGTERM');
      const timer = setTimeout(kill, stopTimeoutMs);
      await ended;
      clearTimeout(timer);
    },
    kill,
  };
}
