// Asks a car through an ELM327 or STN adapter: opens the port only with the installer's consent and while the ignition is proven on, closes it
// in the moment in which it is not, and tries again with growing pauses. The dialogue is `core/obd`; it decides nothing about the vehicle.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Log, OpenByteLink } from '../../src/ports.ts';
import type { ObdConfig } from '../core/bus/bus-config.ts';
import type { BusAdapter, BusReading } from '../core/bus/bus-reading.ts';
import type { ObdFacts, ObdRefusal } from '../core/bus/obd-facts.ts';
import type { ElmAnswer } from '../core/obd/elm-lines.ts';
import type { ObdCommand, Protocol } from '../core/obd/obd-commands.ts';
import { obdWakeMs, stepObd } from '../core/obd/obd-dialogue.ts';
import type { ObdPermission } from '../core/obd/obd-permission.ts';
import { givenUp } from '../core/obd/obd-schedule.ts';
import { createObdSession, type ObdInput, type ObdSession } from '../core/obd/obd-session.ts';
import { createObdValues, type ObdValues } from '../core/obd/obd-values.ts';
import { type ObdLink, openObdLink } from './obd-link.ts';
import type { VehicleBus } from './vehicle-bus.ts';

export const obdBusTiming = {
  /** How often the permission is looked at; before each command too. */
  lookMs: 250,
  portRetryMs: 1000,
  /** After a session that ended by itself: the pause before each further try. After the last of them nothing is tried until the ignition was off. */
  retryMs: [10_000, 30_000, 60_000, 300_000, 300_000, 300_000],
  /** A session that polled for this long was a good one. */
  soundMs: 60_000,
  /** A reading is passed on this often at most. */
  passMs: 200,
  calmMs: 1000,
} as const;

export interface ObdBusDeps {
  readonly config: ObdConfig;
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Whether anything may be written now. */
  permission(): ObdPermission;
  onReading(reading: BusReading): void;
}

interface ObdRun {
  readonly deps: ObdBusDeps;
  readonly values: ObdValues;
  readonly written: Map<string, number>;
  writtenBytes: number;
  phase: BusAdapter['phase'];
  refusal: ObdRefusal | 'port' | null;
  portFault: string | null;
  session: ObdSession | null;
  known: Protocol | null;
  link: ObdLink | null;
  isClosed: boolean;
  wake(): void;
  passedMs: number;
  wasActive: string;
}

function factsOf({ session, written }: ObdRun): ObdFacts {
  const noSession = session ?? createObdSession(0, null);
  return {
    kind: noSession.kind,
    device: noSession.device,
    failedProbes: noSession.failedProbes,
    hasLongRequests: noSession.hasLongRequests,
    hasAnswerCount: noSession.hasAnswerCount,
    protocol: noSession.protocol,
    volts: noSession.volts,
    units: noSession.units.map(({ source, pids }) => ({ source, pids })),
    givenUp: givenUp(noSession.polls),
    errors: noSession.errors,
    written: Object.fromEntries(written),
  };
}

function readingOf(run: ObdRun): BusReading {
  const { deps, values, session } = run;
  const nowMs = deps.clock.monoMs();
  const adapter: BusAdapter = {
    phase: run.phase,
    refusal: run.refusal,
    portFault: run.portFault,
    dialect: session?.kind ?? null,
    version: session?.version ?? null,
    bitRate: null,
    writtenBytes: run.writtenBytes,
    rejected: 0,
    remotes: 0,
    skipped: 0,
    framesPerS: 0,
    obd: factsOf(run),
  };
  return { atMs: nowMs, adapter, view: values.view(nowMs, session?.errors ?? 0) };
}

function passOn(run: ObdRun): void {
  if (run.isClosed) return;
  run.passedMs = run.deps.clock.monoMs();
  run.deps.onReading(readingOf(run));
}

/** Passes on at once what begins or ceases to speak against a change, else once in a while. */
function passOnWhenDue(run: ObdRun): void {
  const nowMs = run.deps.clock.monoMs();
  const { movement, engine } = run.values.activity(nowMs);
  const active = `${movement !== null} ${engine !== null}`;
  const everyMs = movement === null && engine === null ? obdBusTiming.calmMs : obdBusTiming.passMs;
  if (active === run.wasActive && nowMs - run.passedMs < everyMs) return;
  run.wasActive = active;
  passOn(run);
}

function enter(
  run: ObdRun,
  phase: ObdRun['phase'],
  why: Partial<Pick<ObdRun, 'refusal' | 'portFault'>> = {},
): void {
  const { refusal = null, portFault = null } = why;
  const isSame = run.phase === phase && run.refusal === refusal && run.portFault === portFault;
  run.phase = phase;
  run.refusal = refusal;
  run.portFault = portFault;
  if (!isSame) passOn(run);
}

/** Lets time pass, until something comes or the bus is closed. */
function rest(run: ObdRun, ms: number): Promise<void> {
  if (run.isClosed) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel: Cancel = run.deps.clock.after(ms, resolve);
    run.wake = () => {
      cancel();
      resolve();
    };
  });
}

function write(run: ObdRun, link: ObdLink, command: ObdCommand): void {
  run.writtenBytes += link.write(command);
  run.written.set(command, (run.written.get(command) ?? 0) + 1);
}

/** Why a session ended: by itself, by the permission, or with the port. */
type SessionEnd =
  | { readonly kind: 'ended'; readonly refusal: ObdRefusal; readonly isSound: boolean }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'port'; readonly reason: string };

/** Runs one session on an open port. */
async function converse(run: ObdRun): Promise<SessionEnd> {
  const { clock, openByteLink, config, permission } = run.deps;
  const queue: ElmAnswer[] = [];
  let lostReason: string | null = null;
  const link = await openObdLink(openByteLink, config.port, {
    onAnswer(answer) {
      queue.push(answer);
      run.wake();
    },
    onDown(reason) {
      lostReason = reason;
      run.wake();
    },
  });
  run.link = link;
  const startMs = clock.monoMs();
  run.session = createObdSession(startMs, run.known);
  try {
    while (!run.isClosed) {
      if (lostReason !== null) return { kind: 'port', reason: lostReason };
      const nowMs = clock.monoMs();
      const allowed = permission();
      if (allowed !== 'granted') return { kind: 'forbidden' };
      const answer = queue.shift();
      const input: ObdInput = answer === undefined ? { kind: 'time' } : { kind: 'answer', answer };
      const step = stepObd(run.session, input, { nowMs, permission: allowed });
      run.session = step.state;
      run.known = step.state.protocol ?? run.known;
      run.values.take(step.readings, nowMs);
      if (step.command !== null) write(run, link, step.command);
      const { phase, end, polledSinceMs } = step.state;
      if (phase === 'ended')
        return {
          kind: 'ended',
          refusal: end ?? 'silent_adapter',
          isSound: nowMs - polledSinceMs >= obdBusTiming.soundMs,
        };
      enter(run, phase === 'poll' ? 'open' : phase === 'search' ? 'searching' : 'opening');
      passOnWhenDue(run);
      if (queue.length > 0) continue;
      const waitMs = Math.min(
        obdBusTiming.lookMs,
        Math.max(1, Math.ceil(obdWakeMs(step.state, nowMs) - nowMs)),
      );
      await rest(run, waitMs);
    }
    return { kind: 'forbidden' };
  } finally {
    run.link = null;
    await link.close();
  }
}

/** What is not mended by another try while the ignition stays on. */
const lasting: readonly ObdRefusal[] = ['bus_errors', 'battery_low', 'unfit_protocol', 'unfit_adapter'];

/** Waits while `refusal` holds: for some time, or until the ignition was off. */
async function waitOut(run: ObdRun, refusal: ObdRefusal, ms: number): Promise<void> {
  enter(run, 'waiting', { refusal });
  const { clock, permission } = run.deps;
  const untilMs = clock.monoMs() + ms;
  while (!run.isClosed && clock.monoMs() < untilMs) {
    const allowed = permission();
    if (allowed === 'ignition_off' || allowed === 'ignition_new') return;
    await rest(run, obdBusTiming.lookMs);
    passOnWhenDue(run);
  }
}

/** Waits until the permission is there; whether it had to. */
async function untilPermitted(run: ObdRun): Promise<boolean> {
  let hadToWait = false;
  while (!run.isClosed) {
    const allowed = run.deps.permission();
    if (allowed === 'granted') return hadToWait;
    hadToWait ||= allowed === 'ignition_off' || allowed === 'ignition_new';
    enter(run, 'waiting', { refusal: allowed });
    await rest(run, obdBusTiming.lookMs);
    passOnWhenDue(run);
  }
  return hadToWait;
}

/** Asks, and begins again, until the bus is closed. */
async function runObd(run: ObdRun): Promise<void> {
  const { log, config } = run.deps;
  if (!config.hasConsent) return enter(run, 'waiting', { refusal: 'no_consent' });
  let tries = 0;
  let reported = '';
  const report = (event: string, reason: string): void => {
    if (reported !== reason) log.warn(event, { port: config.port.path, reason });
    reported = reason;
  };
  while (!run.isClosed) {
    if (await untilPermitted(run)) tries = 0;
    if (run.isClosed) return;
    const end = await converse(run).catch(
      (thrown: unknown): SessionEnd => ({ kind: 'port', reason: messageOf(thrown) }),
    );
    if (run.isClosed) return;
    if (end.kind === 'forbidden') continue;
    if (end.kind === 'port') {
      report('obd_lost', end.reason);
      enter(run, 'waiting', { refusal: 'port', portFault: end.reason });
      await rest(run, obdBusTiming.portRetryMs);
      continue;
    }
    report('obd_ended', end.refusal);
    tries = end.isSound ? 1 : tries + 1;
    const pauseMs = lasting.includes(end.refusal) ? undefined : obdBusTiming.retryMs[tries - 1];
    await waitOut(run, end.refusal, pauseMs ?? Number.POSITIVE_INFINITY);
  }
}

/** Starts to ask, where consent and ignition allow it; it tries again until it is closed. */
export function startObdBus(deps: ObdBusDeps): VehicleBus {
  const run: ObdRun = {
    deps,
    values: createObdValues(),
    written: new Map(),
    writtenBytes: 0,
    phase: 'waiting',
    refusal: deps.config.hasConsent ? 'ignition_unknown' : 'no_consent',
    portFault: null,
    session: null,
    known: null,
    link: null,
    isClosed: false,
    wake: () => undefined,
    passedMs: Number.NEGATIVE_INFINITY,
    wasActive: '',
  };
  passOn(run);
  const ended = runObd(run);
  return {
    reading: () => readingOf(run),
    async close() {
      run.isClosed = true;
      run.wake();
      await run.link?.close();
      await ended;
    },
  };
}
