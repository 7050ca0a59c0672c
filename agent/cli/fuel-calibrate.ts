// `fleetward-agent fuel calibrate`: amounts entered by a person or from a file, and the sender read over the real
// board. Every point is on disk before the next prompt; none is lost to Ctrl-C, a pulled cable or a power cut.
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AppError, codeOf, messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, OpenByteLink, SerialSettings } from '../../src/ports.ts';
import type { BoardProfile } from '../core/board/board-profile.ts';
import { parseFuelAnswers } from '../core/fuel/fuel-answers.ts';
import {
  type CalibrationInput,
  type CalibrationPlan,
  type CalibrationState,
  calibrationRecord,
  parseCalibration,
  startCalibration,
  stepCalibration,
} from '../core/fuel/fuel-calibration.ts';
import type { LlsConfig } from '../core/fuel/lls-config.ts';
import type { TankPoint, TankTable } from '../core/fuel/tank-table.ts';
import { startLlsReader } from '../fuel/lls-reader.ts';
import { openBoardReading } from './board-reading.ts';

export interface FuelCalibrateIo {
  /** With the installer's overrides. */
  readonly profile: BoardProfile;
  readonly port: SerialSettings;
  /** The digital sender that is read in place of the board. */
  readonly fuelSender?: LlsConfig | undefined;
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
  /** Null with `answers`. */
  readonly plan: Pick<CalibrationPlan, 'capacityL' | 'mode' | 'startL'> | null;
  /** The text of an answers file, for use without a person; null: ask. */
  readonly answers: string | null;
  /** File that keeps the points until the table is made. */
  readonly progressPath: string;
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Resolves on SIGINT or SIGTERM. */
  readonly stopped: Promise<void>;
}

export type FuelCalibrateResult =
  | { readonly kind: 'done'; readonly table: TankTable; readonly toml: string }
  | { readonly kind: 'stopped'; readonly points: number };

/** Seconds at rest that make a reading, unless an answers file sets another time. */
const settleMs = 10_000;
const tickMs = 1000;

const help =
  'Enter the litres of this step as a number, `undo` for the last point, `done` to make the table, Ctrl-C to stop for now.';

interface Session {
  readonly io: FuelCalibrateIo;
  readonly plan: CalibrationPlan;
  /** Amounts of an answers file that are still to come; null with a person. */
  steps: readonly number[] | null;
  readonly stepMs: number;
  state: CalibrationState;
  askedAtMs: number;
  isEnded: boolean;
  end(result: FuelCalibrateResult): void;
  fail(error: AppError): void;
}

/**
 * Runs until the table is made or it is stopped. The port must be free: the agent has to be stopped first.
 * @throws AppError `unsupported` without a fuel signal, `serial`, `storage`, `invalid_content` for an answers file.
 */
export async function fuelCalibrate(io: FuelCalibrateIo): Promise<FuelCalibrateResult> {
  const signal =
    io.fuelSender === undefined ? io.profile.analogs.fuel : { valid: [0, io.fuelSender.full] as const };
  if (signal === undefined) {
    throw new AppError('unsupported', `Board profile ${io.profile.name} has no fuel signal`, {
      hint: 'Take a board with analog inputs, wire one in [board.overrides.analogs.fuel], or a digital sender in [fuelSender].',
    });
  }
  const answers = io.answers === null ? null : parseFuelAnswers(io.answers);
  const given = answers ?? io.plan;
  if (given === null)
    throw new AppError('usage', 'The capacity of the tank is missing', {
      hint: 'Give --capacity LITRES, or a file of answers with --answers.',
    });
  if (!(given.capacityL > 0) || !(given.startL >= 0 && given.startL <= given.capacityL)) {
    throw new AppError('usage', 'The litres in the tank must be between 0 and its capacity', {
      hint: 'Check --capacity and the litres that the tank holds at the start.',
    });
  }
  const plan: CalibrationPlan = {
    capacityL: given.capacityL,
    mode: given.mode,
    startL: given.startL,
    valid: [signal.valid[0], signal.valid[1]],
    settleMs: answers?.settleMs ?? settleMs,
    place: io.fuelSender === undefined ? 'board.overrides.analogs.fuel' : 'fuelSender',
  };
  const kept = readProgress(io.progressPath, plan);
  return runSession(io, plan, { kept, steps: answers?.steps ?? null, stepMs: answers?.stepMs ?? Infinity });
}

interface Course {
  readonly kept: readonly TankPoint[];
  readonly steps: readonly number[] | null;
  readonly stepMs: number;
}

async function runSession(
  io: FuelCalibrateIo,
  plan: CalibrationPlan,
  course: Course,
): Promise<FuelCalibrateResult> {
  let complete: (result: FuelCalibrateResult) => void = () => {};
  let reject: (error: AppError) => void = () => {};
  const ended = new Promise<FuelCalibrateResult>((resolve, refuse) => {
    complete = resolve;
    reject = refuse;
  });
  // It may fail while the port is still being opened.
  ended.catch(() => {});
  const started = startCalibration(plan, course.kept);
  const done = Math.max(0, course.kept.length - 1);
  const session: Session = {
    io,
    plan,
    steps: course.steps?.slice(done) ?? null,
    stepMs: course.stepMs,
    state: started.state,
    askedAtMs: io.clock.monoMs(),
    isEnded: false,
    end(result) {
      session.isEnded = true;
      complete(result);
    },
    fail(error) {
      session.isEnded = true;
      reject(error);
    },
  };
  const reading = await openSender(session).catch((thrown: unknown) => {
    throw busyHint(thrown);
  });
  perform(session, started.outputs);
  const cancel = tick(session);
  const lines = course.steps === null ? createInterface({ input: io.input, terminal: false }) : null;
  lines?.on('line', (line) => handleLine(session, line));
  lines?.on('close', () => stop(session));
  void io.stopped.then(() => stop(session));
  try {
    return await ended;
  } finally {
    cancel();
    lines?.removeAllListeners('close');
    lines?.close();
    await reading.close();
  }
}

/** The sender behind the board, or the digital one. */
async function openSender(session: Session): Promise<{ close(): Promise<void> }> {
  const { io } = session;
  const onMeasure = (measure: number | null, atMs: number): void =>
    feed(session, { kind: 'measure', atMs, measure });
  const lose = (what: string, reason: string): void => {
    const error = new AppError('serial', `${what} is gone: ${reason}`, { hint: resumeHint(session) });
    session.fail(busyHint(error));
  };
  if (io.fuelSender === undefined)
    return openBoardReading({
      ...io,
      analog: 'fuel',
      onMeasure,
      onDown: (reason) => lose(`The I/O board at ${io.port.path}`, reason),
    });
  const { fuelSender: config } = io;
  return startLlsReader({
    ...io,
    config,
    log: { info: () => undefined, warn: () => undefined },
    onReading({ measure, fault, portFault }) {
      if (fault === 'port') return lose(`The fuel sender at ${config.port.path}`, portFault ?? '');
      if (measure !== 'unknown') onMeasure(measure, io.clock.monoMs());
    },
  });
}

function tick(session: Session): Cancel {
  const { clock } = session.io;
  let cancel: Cancel = () => {};
  const again = (): void => {
    cancel = clock.after(tickMs, () => {
      again();
      const atMs = clock.monoMs();
      feed(session, { kind: 'time', atMs });
      if (atMs - session.askedAtMs <= session.stepMs || session.state.waiting === null) return;
      const litres = session.state.waiting.litres;
      const reason = `The sender did not come to rest at ${litres} L within ${session.stepMs / 1000} s`;
      session.fail(new AppError('unavailable', reason, { hint: resumeHint(session) }));
    });
  };
  again();
  return () => cancel();
}

function feed(session: Session, input: CalibrationInput): void {
  if (session.isEnded) return;
  const step = stepCalibration(session.state, input);
  session.state = step.state;
  perform(session, step.outputs);
}

function perform(session: Session, outputs: ReturnType<typeof stepCalibration>['outputs']): void {
  for (const output of outputs) {
    switch (output.kind) {
      case 'say':
        session.io.output.write(`${output.text}\n`);
        break;
      case 'keep':
        keep(session, output.points);
        break;
      case 'ask':
        if (!session.isEnded) ask(session);
        break;
      case 'table':
        session.io.output.write(`\n${output.toml}\n`);
        rmSync(session.io.progressPath, { force: true });
        session.end({ kind: 'done', table: output.table, toml: output.toml });
        break;
    }
  }
}

function ask(session: Session): void {
  const { io, plan, steps } = session;
  session.askedAtMs = io.clock.monoMs();
  if (steps === null) {
    io.output.write(`${plan.mode === 'fill' ? 'Litres poured in' : 'Litres taken out'} (or undo, done): `);
    return;
  }
  const [litres, ...rest] = steps;
  session.steps = rest;
  const atMs = io.clock.monoMs();
  if (litres !== undefined) return feed(session, { kind: 'amount', atMs, litres, isAhead: true });
  feed(session, { kind: 'finish' });
  if (session.isEnded) return;
  // Unattended: there is no second measurement.
  session.fail(
    new AppError('invalid_content', 'The points make no table', {
      hint: `The reasons stand above; the points are kept in ${io.progressPath}, remove it to begin anew.`,
    }),
  );
}

function handleLine(session: Session, line: string): void {
  const word = line.trim().toLowerCase();
  if (word === 'undo') return feed(session, { kind: 'undo' });
  if (word === 'done') return feed(session, { kind: 'finish' });
  const litres = Number(word.replace(',', '.').replace(/\s*l$/, ''));
  if (word === '' || !Number.isFinite(litres)) {
    session.io.output.write(`${help}\n`);
    return;
  }
  feed(session, { kind: 'amount', atMs: session.io.clock.monoMs(), litres, isAhead: false });
}

function resumeHint(session: Session): string {
  return `${session.state.points.length} points are kept in ${session.io.progressPath}; run the same command to go on.`;
}

function stop(session: Session): void {
  if (session.isEnded) return;
  session.io.output.write(`\nStopped. ${resumeHint(session)}\n`);
  session.end({ kind: 'stopped', points: session.state.points.length });
}

/** The agent has the port while it runs. */
function busyHint<Thrown>(thrown: Thrown): Thrown | AppError {
  if (!(thrown instanceof AppError) || !thrown.message.includes('in use')) return thrown;
  const hint = 'Stop the agent first (systemctl stop fleetward-agent) and start it again afterwards.';
  return new AppError(thrown.code, thrown.message, { hint, cause: thrown });
}

/** The points of a session that was stopped; none without a file. */
function readProgress(path: string, plan: CalibrationPlan): readonly TankPoint[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return [];
    throw new AppError('storage', `Cannot read ${path}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'Run it as root or as the user that began the calibration, or remove the file to begin anew.',
    });
  }
  let stored: unknown = null;
  try {
    stored = JSON.parse(text);
  } catch {
    // Falls through: a damaged file is refused with a message, never overwritten.
  }
  const points = parseCalibration(stored, plan);
  if (points !== null) return points;
  throw new AppError('conflict', `${path} is damaged, or of a tank of another capacity or mode`, {
    hint: 'Give the same capacity and mode to go on with it, or remove the file to begin anew.',
  });
}

/** On disk whole or not at all. */
function keep(session: Session, points: readonly TankPoint[]): void {
  const { progressPath } = session.io;
  const text = JSON.stringify(calibrationRecord(session.plan, points));
  try {
    const file = openSync(`${progressPath}.new`, 'w', 0o600);
    try {
      writeSync(file, `${text}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(`${progressPath}.new`, progressPath);
  } catch (thrown) {
    session.fail(
      new AppError('storage', `Cannot write ${progressPath}: ${messageOf(thrown)}`, {
        cause: thrown,
        hint: 'Check the rights on its folder and the free space, then start the calibration again.',
      }),
    );
  }
}
