// A part of a fleet in a process of its own, as the leader of the run sees it. The process never outlives the leader; when it ends
// before it was told to, the run is over, with the reason.
import { fork } from 'node:child_process';
import { AppError, type ErrorCode, errorKinds } from '../../src/core/errors.ts';
import type { LedgerNotes, VehicleNotes } from '../core/ledger-types.ts';
import { noLook, type Part, type PartHandlers, type PartSetup } from './part.ts';
import type { FromPart, Measured, ProcessLook, ToPart } from './part-messages.ts';

export interface ChildPart extends Part {
  /** Of the newest report. */
  look(): ProcessLook;
  /** The vehicles count from that moment of the machine's monotonic clock. */
  begin(startHrMs: number): void;
  /** Rejects when the process fails or ends before it was closed; never resolves. */
  readonly failed: Promise<never>;
  readonly pid: number;
  /** At once. */
  kill(): void;
}

export interface ChildOptions {
  /** The simulator's program; started with the one word `part`. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly setup: PartSetup;
  readonly handlers: PartHandlers;
  /** Of every report. */
  onLook(look: ProcessLook): void;
}

const readyTimeoutMs = 60_000;
/** Taking thousands of agents off the road in good order takes a while. */
const closeTimeoutMs = 300_000;

/** Rejects with `unavailable` when it takes too long. */
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

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorKinds, code);

interface Mail {
  look: ProcessLook;
  /** It has handed over everything and may go. */
  isClosed: boolean;
  readonly vehicles: VehicleNotes[];
  onReady(): void;
  onClosed(notes: LedgerNotes): void;
  onFailed(error: AppError): void;
}

function deliver({ ingest, visible }: Measured, { onLatency }: PartHandlers): void {
  for (const ms of ingest) onLatency('ingest', ms);
  for (const ms of visible) onLatency('visible', ms);
}

function receive(message: FromPart, mail: Mail, options: ChildOptions): void {
  switch (message.kind) {
    case 'ready':
      return mail.onReady();
    case 'report':
      mail.look = message.look;
      deliver(message.measured, options.handlers);
      return options.onLook(message.look);
    case 'say':
      return options.handlers.say(message.text);
    case 'vehicles':
      return void mail.vehicles.push(...message.vehicles);
    case 'closed':
      mail.isClosed = true;
      return mail.onClosed({ ...message.rest, vehicles: mail.vehicles });
    case 'failed': {
      const code = isCode(message.code) ? message.code : 'internal';
      return mail.onFailed(new AppError(code, message.message, message.hint ? { hint: message.hint } : {}));
    }
  }
}

/** Starts the process and waits until it is ready. Rejects with AppError `unavailable`. */
export async function startChildPart(options: ChildOptions): Promise<ChildPart> {
  const { program, environment, setup } = options;
  const child = fork(program, ['part'], {
    env: { ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.on('exit', kill); // however the leader ends; where it cannot say so, the channel breaks
  const mail: Mail = {
    look: { ...noLook, cpuMs: 0, rssMb: 0, lagMs: 0 },
    isClosed: false,
    vehicles: [],
    onReady: () => undefined,
    onClosed: () => undefined,
    onFailed: () => undefined,
  };
  const ready = new Promise<void>((done) => Object.assign(mail, { onReady: done }));
  const closed = new Promise<LedgerNotes>((done) => Object.assign(mail, { onClosed: done }));
  const failed = new Promise<never>((_done, fail) => Object.assign(mail, { onFailed: fail }));
  failed.catch(() => undefined); // whoever waits hears it
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.on('error', (error) => mail.onFailed(new AppError('internal', `${program}: ${error.message}`)));
  child.once('exit', (code, signal) => {
    process.off('exit', kill);
    if (mail.isClosed) return;
    const words = `Process ${setup.no + 1} of the fleet (pid ${child.pid}) ended before the run did: ${signal ?? `exit code ${code}`}`;
    mail.onFailed(new AppError('unavailable', words));
  });
  child.on('message', (message) => receive(message as FromPart, mail, options));
  const send = (message: ToPart): void => {
    // A channel that has broken is told by the end of the process.
    if (child.connected) child.send(message, () => undefined);
  };
  send({ kind: 'setup', setup });
  await within(Promise.race([ready, failed]), readyTimeoutMs, 'The start of a process of the fleet').catch(
    (thrown: unknown) => {
      kill();
      throw thrown;
    },
  );
  return {
    pid: child.pid ?? 0,
    begin: (startHrMs) => send({ kind: 'begin', startHrMs }),
    look: () => mail.look,
    order: (order) => send({ kind: 'order', order }),
    failed,
    kill,
    async close() {
      send({ kind: 'close' });
      const notes = await within(
        Promise.race([closed, failed]),
        closeTimeoutMs,
        'The end of a process of the fleet',
      );
      await within(ended, readyTimeoutMs, 'The end of a process of the fleet').catch(kill);
      return notes;
    },
  };
}
