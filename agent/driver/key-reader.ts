// Keeps the port of the reader of drivers' keys open, speaks its protocol and passes keys on. It decides nothing about drivers. A lost port is
// opened again for ever; why it was lost is logged once.
import { messageOf } from '../../src/core/errors.ts';
import type { ByteLink, Cancel, Clock, Log, OpenByteLink } from '../../src/ports.ts';
import type { DriverReaderConfig } from '../core/driver/driver-config.ts';
import { createDs2480b } from '../core/driver/ds2480b.ts';
import type { KeyProtocol, KeyStep } from '../core/driver/key-protocol.ts';
import type { ReaderReading } from '../core/driver/reader-reading.ts';
import { createRfidFrames } from '../core/driver/rfid-frames.ts';

/** A port that is not there is looked for this often, ms. */
const retryMs = 1000;

export interface KeyReader {
  reading(): ReaderReading;
  close(): Promise<void>;
}

export interface KeyReaderDeps {
  readonly config: DriverReaderConfig;
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** A key was read with a sound checksum; again as often as the reader reads it. */
  onKey(id: string): void;
  /** The port or the fault changed. */
  onReading(reading: ReaderReading): void;
}

/** One reader from its start to its close. */
interface ReaderRun {
  readonly deps: KeyReaderDeps;
  readonly protocol: KeyProtocol;
  reading: ReaderReading;
  link: ByteLink | null;
  /** Of the newest opening: callbacks of earlier ones are ignored. */
  generation: number;
  isClosed: boolean;
  /** The reason that was logged last; '' while the port is open. */
  reported: string;
  cancelTimer: Cancel;
}

function show(run: ReaderRun, change: Partial<ReaderReading>): void {
  const before = run.reading;
  run.reading = { ...before, ...change };
  const { phase, fault } = run.reading;
  if (!run.isClosed && (phase !== before.phase || fault !== before.fault)) run.deps.onReading(run.reading);
}

/** Sends what the protocol wants sent, counts, and passes its keys on. */
function apply(run: ReaderRun, step: KeyStep): void {
  const { reading, protocol, deps } = run;
  if (step.writes.length > 0) run.link?.write(Uint8Array.from(step.writes));
  show(run, {
    fault: protocol.fault(),
    keys: reading.keys + step.keys.length,
    rejected: reading.rejected + step.rejected,
    noise: reading.noise + step.noise,
  });
  for (const id of step.keys) deps.onKey(id);
}

function rearm(run: ReaderRun): void {
  const { deps, protocol } = run;
  run.cancelTimer();
  const wakeMs = protocol.wakeMs();
  if (run.link === null || wakeMs === Number.POSITIVE_INFINITY) return;
  run.cancelTimer = deps.clock.after(Math.max(1, Math.ceil(wakeMs - deps.clock.monoMs())), () => {
    apply(run, protocol.time(deps.clock.monoMs()));
    rearm(run);
  });
}

function lose(run: ReaderRun, reason: string): void {
  const { deps } = run;
  run.generation += 1;
  run.link = null;
  run.cancelTimer();
  if (run.isClosed) return;
  if (run.reported !== reason) deps.log.warn('driver_reader_lost', { port: deps.config.port.path, reason });
  run.reported = reason;
  show(run, { phase: 'waiting', fault: 'port', portFault: reason });
  run.cancelTimer = deps.clock.after(retryMs, () => void open(run));
}

async function open(run: ReaderRun): Promise<void> {
  const { deps, protocol } = run;
  run.generation += 1;
  const { generation } = run;
  const isCurrent = (): boolean => run.generation === generation && !run.isClosed;
  try {
    const link = await deps.openByteLink(deps.config.port, {
      onBytes(bytes) {
        // Bytes from before the opening ended are of a reading whose beginning is not known.
        if (!isCurrent() || run.link === null) return;
        apply(run, protocol.bytes(bytes, deps.clock.monoMs()));
        rearm(run);
      },
      onDown(reason) {
        if (isCurrent()) lose(run, reason);
      },
    });
    if (!isCurrent()) return void link.close();
    run.link = link;
    run.reported = '';
    deps.log.info('driver_reader_open', { port: deps.config.port.path });
    show(run, { phase: 'open', fault: null, portFault: null });
    apply(run, protocol.begin(deps.clock.monoMs()));
    rearm(run);
  } catch (thrown) {
    if (isCurrent()) lose(run, messageOf(thrown));
  }
}

/** Starts to read keys; a port that is not there is tried again until it is closed. */
export function startKeyReader(deps: KeyReaderDeps): KeyReader {
  const run: ReaderRun = {
    deps,
    protocol:
      deps.config.kind === 'ds2480b' ? createDs2480b() : createRfidFrames(deps.config.kind === 'rfid'),
    reading: { phase: 'opening', fault: null, portFault: null, keys: 0, rejected: 0, noise: 0 },
    link: null,
    generation: 0,
    isClosed: false,
    reported: '',
    cancelTimer: () => undefined,
  };
  void open(run);
  return {
    reading: () => run.reading,
    async close() {
      run.isClosed = true;
      run.cancelTimer();
      await run.link?.close();
      run.link = null;
    },
  };
}
