// A worker in a process of its own, as the main process sees it. The child never outlives the main process; when it ends unexpectedly,
// the run fails with the reason.
import { fork } from 'node:child_process';
import { AppError, isErrorCode } from '../../../src/core/errors.ts';
import type { LedgerNotes, VehicleNotes } from '../../core/ledger/ledger-types.ts';
import { measuredNames } from '../../core/scenario/thresholds.ts';
import { endWithParentArgs, holdPipe } from '../../end-with-parent.ts';
import { emptyStatus, type Worker, type WorkerHandlers, type WorkerSetup } from './worker.ts';
import type { FromWorker, Measured, ProcessStatus, ToWorker } from './worker-messages.ts';

export interface WorkerProcess extends Worker {
  /** From the newest report. */
  status(): ProcessStatus;
  /** The start of the run on the machine's monotonic clock, ms. */
  begin(startHrMs: number): void;
  /** Rejects when the process fails or ends before it was closed; never resolves. */
  readonly failed: Promise<never>;
  readonly pid: number;
  /** Sends SIGKILL. */
  kill(): void;
}

interface WorkerProcessOptions {
  /** The simulator's program; started with the argument `worker`. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly setup: WorkerSetup;
  readonly handlers: WorkerHandlers;
  /** Called with every report. */
  onStatus(status: ProcessStatus): void;
}

const readyTimeoutMs = 60_000;
/** Thousands of agents take minutes to close. */
const closeTimeoutMs = 300_000;

/** Rejects with `unavailable` after `ms`. */
async function within<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_done, fail) => {
    const error = new AppError('unavailable', `${what} took longer than ${ms / 1000} s`);
    timer = setTimeout(() => fail(error), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface ChildState {
  status: ProcessStatus;
  /** All of its notes have arrived: its exit is expected. */
  isClosed: boolean;
  readonly vehicles: VehicleNotes[];
  onReady(): void;
  onClosed(notes: LedgerNotes): void;
  onFailed(error: AppError): void;
}

function deliver(measured: Measured, { onLatency }: WorkerHandlers): void {
  for (const name of measuredNames) for (const ms of measured[name]) onLatency(name, ms);
}

function receive(message: FromWorker, state: ChildState, options: WorkerProcessOptions): void {
  switch (message.kind) {
    case 'ready':
      return state.onReady();
    case 'report':
      state.status = message.status;
      deliver(message.measured, options.handlers);
      return options.onStatus(message.status);
    case 'say':
      return options.handlers.say(message.text);
    case 'vehicles':
      return void state.vehicles.push(...message.vehicles);
    case 'closed':
      state.isClosed = true;
      return state.onClosed({ ...message.rest, vehicles: state.vehicles });
    case 'failed': {
      const code = isErrorCode(message.code) ? message.code : 'internal';
      return state.onFailed(new AppError(code, message.message, message.hint ? { hint: message.hint } : {}));
    }
  }
}

/** Starts the process and waits until it is ready. Rejects with AppError `unavailable`. */
export async function startWorkerProcess(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const { program, environment, setup } = options;
  const child = fork(program, ['worker'], {
    env: { ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'ipc'],
    execArgv: [...endWithParentArgs],
  });
  holdPipe(child);
  const kill = (): void => void child.kill('SIGKILL');
  process.on('exit', kill); // after SIGKILL of this process, the held pipe ends the child
  const state: ChildState = {
    status: { ...emptyStatus, cpuMs: 0, rssMb: 0, lagMs: 0 },
    isClosed: false,
    vehicles: [],
    onReady: () => undefined,
    onClosed: () => undefined,
    onFailed: () => undefined,
  };
  const ready = new Promise<void>((done) => Object.assign(state, { onReady: done }));
  const closed = new Promise<LedgerNotes>((done) => Object.assign(state, { onClosed: done }));
  const failed = new Promise<never>((_done, fail) => Object.assign(state, { onFailed: fail }));
  failed.catch(() => undefined); // a rejection that is not awaited yet is not unhandled
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.on('error', (error) => state.onFailed(new AppError('internal', `${program}: ${error.message}`)));
  child.once('exit', (code, signal) => {
    process.off('exit', kill);
    if (state.isClosed) return;
    const reason = signal ?? `exit code ${code}`;
    const message = `Worker process ${setup.no + 1} (pid ${child.pid}) ended before the run did: ${reason}`;
    state.onFailed(new AppError('unavailable', message));
  });
  child.on('message', (message) => receive(message as FromWorker, state, options));
  const send = (message: ToWorker): void => {
    // A broken channel is reported by the exit of the process.
    if (child.connected) child.send(message, () => undefined);
  };
  send({ kind: 'setup', setup });
  await within(Promise.race([ready, failed]), readyTimeoutMs, 'The start of a worker process').catch(
    (thrown: unknown) => {
      kill();
      throw thrown;
    },
  );
  return {
    pid: child.pid ?? 0,
    begin: (startHrMs) => send({ kind: 'begin', startHrMs }),
    status: () => state.status,
    instruct: (instruction) => send({ kind: 'instruct', instruction }),
    failed,
    kill,
    async close() {
      send({ kind: 'close' });
      const notes = await within(
        Promise.race([closed, failed]),
        closeTimeoutMs,
        'The end of a worker process',
      );
      await within(ended, readyTimeoutMs, 'The end of a worker process').catch(kill);
      return notes;
    },
  };
}
