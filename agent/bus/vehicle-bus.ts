// Keeps the adapter of the vehicle bus open: opens it in listen-only mode, finds the bit rate, opens it again after a loss or a long silence,
// and passes readings on. It decides nothing about the vehicle, and has nothing with which to write to the bus.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Log, OpenByteLink } from '../../src/ports.ts';
import type { BusConfig } from '../core/bus/bus-config.ts';
import type { BusAdapter, BusPhase, BusReading } from '../core/bus/bus-reading.ts';
import { type BitRate, bitRates } from '../core/bus/slcan-opening.ts';
import { type BusRecorder, createBusRecorder } from './bus-recorder.ts';
import { type ListeningLink, openListening } from './listening-link.ts';

export const busTiming = {
  /** A bit rate is that of the bus when this many frames come within `searchMs`. */
  searchMs: 1500,
  searchFrames: 20,
  /** A port that is not there is looked for this often. */
  portRetryMs: 1000,
  /** After a refusal, and after a search without frames: the pause before each further try. */
  retryMs: [1000, 2000, 5000, 30_000],
  /** Without a frame for this long the adapter is set up anew: it may have lost its settings. A bus that sleeps is silent too. */
  silentMs: 60_000,
  checkMs: 5000,
} as const;

export interface VehicleBus {
  reading(): BusReading;
  close(): Promise<void>;
}

export interface VehicleBusDeps {
  readonly config: BusConfig;
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Something changed that the vehicle is to know, or a second has passed. */
  onReading(reading: BusReading): void;
}

type Trial =
  | { readonly kind: 'open'; readonly link: ListeningLink }
  | { readonly kind: 'failed'; readonly refusal: BusAdapter['refusal']; readonly reason: string };

type Facts = Omit<BusAdapter, 'rejected' | 'remotes' | 'skipped' | 'framesPerS'>;

/** One bus from its start to its close. */
interface BusRun {
  readonly deps: VehicleBusDeps;
  readonly recorder: BusRecorder;
  facts: Facts;
  isClosed: boolean;
  /** The bit rate of the bus; null: not found yet. */
  bitRate: BitRate | null;
  link: ListeningLink | null;
  /** Why the link of this opening was lost; null while it was not. */
  lostReason: string | null;
  /** Ends a pause early. */
  wake(): void;
}

function readingOf({ deps, facts, recorder }: BusRun): BusReading {
  const nowMs = deps.clock.monoMs();
  return {
    atMs: nowMs,
    adapter: { ...facts, ...recorder.counts(nowMs) },
    view: recorder.view(nowMs),
  };
}

function passOn(run: BusRun): void {
  if (!run.isClosed) run.deps.onReading(readingOf(run));
}

function enter(run: BusRun, phase: BusPhase, why: Partial<Facts> = {}): void {
  run.facts = { ...run.facts, refusal: null, portFault: null, ...why, phase };
  passOn(run);
}

/** Lets time pass, until the link is lost or the bus is closed. */
function rest(run: BusRun, ms: number): Promise<void> {
  if (run.isClosed || run.lostReason !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel: Cancel = run.deps.clock.after(ms, resolve);
    run.wake = () => {
      cancel();
      resolve();
    };
  });
}

/** Opens the adapter at one bit rate. */
async function openAt(run: BusRun, bitRate: BitRate): Promise<Trial> {
  const { deps, recorder } = run;
  const { clock } = deps;
  run.lostReason = null;
  try {
    const outcome = await openListening(
      { ...deps, bitRate },
      {
        onLines: (lines) => {
          if (recorder.take(lines, clock.monoMs())) passOn(run);
        },
        onDown(reason) {
          run.lostReason = reason;
          run.wake();
        },
        onWritten(bytes) {
          run.facts = { ...run.facts, writtenBytes: run.facts.writtenBytes + bytes };
        },
      },
    );
    if (outcome.kind === 'lost') return { kind: 'failed', refusal: 'port', reason: outcome.reason };
    const { dialect, version, refusal } = outcome.opening;
    run.facts = { ...run.facts, dialect, version, bitRate };
    if (outcome.kind === 'refused') return { kind: 'failed', refusal, reason: refusal ?? '' };
    // Frames of before the opening were sent at another bit rate.
    recorder.restart();
    return { kind: 'open', link: outcome.link };
  } catch (thrown) {
    return { kind: 'failed', refusal: 'port', reason: messageOf(thrown) };
  }
}

/** Listens at each bit rate until frames come. */
async function search(run: BusRun): Promise<Trial> {
  enter(run, 'searching');
  for (const bitRate of bitRates) {
    const trial = await openAt(run, bitRate);
    if (trial.kind === 'failed') return trial;
    await rest(run, busTiming.searchMs);
    if (run.lostReason === null && run.recorder.frames() >= busTiming.searchFrames) {
      run.bitRate = bitRate;
      return trial;
    }
    await trial.link.close();
    if (run.lostReason !== null) return { kind: 'failed', refusal: 'port', reason: run.lostReason };
    if (run.isClosed) break;
  }
  return { kind: 'failed', refusal: 'no_frames', reason: 'no frames at any bit rate' };
}

function open(run: BusRun): Promise<Trial> {
  if (run.bitRate === null) return search(run);
  enter(run, 'opening');
  return openAt(run, run.bitRate);
}

/** Watches an open adapter until it is lost, silent for long, or closed. */
async function watch(run: BusRun): Promise<void> {
  const { clock } = run.deps;
  const openedMs = clock.monoMs();
  while (run.lostReason === null && !run.isClosed) {
    await rest(run, busTiming.checkMs);
    const silentSinceMs = run.recorder.lastFrameMs() ?? openedMs;
    if (clock.monoMs() - Math.max(openedMs, silentSinceMs) > busTiming.silentMs) return;
  }
}

async function listen(run: BusRun, link: ListeningLink): Promise<void> {
  run.link = link;
  enter(run, 'open');
  await watch(run);
  await link.close();
  run.link = null;
}

/** Opens, listens, and begins again, until the bus is closed. */
async function runBus(run: BusRun): Promise<void> {
  const { log, config } = run.deps;
  let refusals = 0;
  let reported = '';
  /** The adapter that was logged as open: one that is opened again each minute, as its bus sleeps, is logged once. */
  let logged = '';
  const report = (event: string, reason: string): void => {
    if (reported !== reason) log.warn(event, { port: config.port.path, reason });
    reported = reason;
    logged = '';
  };
  while (!run.isClosed) {
    const trial = await open(run);
    if (trial.kind === 'open') {
      const { dialect, bitRate } = run.facts;
      if (logged !== `${dialect} ${bitRate}`) log.info('bus_open', { dialect, bitRate });
      logged = `${dialect} ${bitRate}`;
      refusals = 0;
      reported = '';
      await listen(run, trial.link);
      if (run.lostReason === null) continue;
      report('bus_lost', run.lostReason);
      enter(run, 'waiting', { refusal: 'port', portFault: run.lostReason });
    } else if (!run.isClosed) {
      report('bus_open_failed', trial.reason);
      const portFault = trial.refusal === 'port' ? trial.reason : null;
      enter(run, 'waiting', { refusal: trial.refusal, portFault });
    }
    const { retryMs, portRetryMs } = busTiming;
    const isPort = run.facts.refusal === 'port';
    const refusedMs = retryMs[Math.min(refusals, retryMs.length - 1)] ?? portRetryMs;
    if (!isPort) refusals += 1;
    run.lostReason = null;
    await rest(run, isPort ? portRetryMs : refusedMs);
  }
}

/** Starts to listen; it tries again until it is closed. */
export function startVehicleBus(deps: VehicleBusDeps): VehicleBus {
  const { bitRate } = deps.config;
  const run: BusRun = {
    deps,
    recorder: createBusRecorder(),
    facts: {
      phase: 'opening',
      refusal: null,
      portFault: null,
      dialect: null,
      version: null,
      bitRate: null,
      writtenBytes: 0,
    },
    isClosed: false,
    bitRate: bitRate === 'auto' ? null : bitRate,
    link: null,
    lostReason: null,
    wake: () => undefined,
  };
  const ended = runBus(run);
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
