// Speaks the protocol of the reader of drivers' keys and passes keys on. It decides nothing about drivers.
import type { Cancel, Clock, Log, OpenByteLink } from '../../src/ports.ts';
import type { DriverReaderConfig } from '../core/driver/driver-config.ts';
import { createDs2480b } from '../core/driver/ds2480b.ts';
import type { KeyProtocol, KeyStep } from '../core/driver/key-protocol.ts';
import type { ReaderReading } from '../core/driver/reader-reading.ts';
import { createRfidFrames } from '../core/driver/rfid-frames.ts';
import { type KeptPort, keepPort } from '../kept-port.ts';

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
  port: KeptPort | null;
  isClosed: boolean;
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
  if (step.writes.length > 0) run.port?.write(Uint8Array.from(step.writes));
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
  if (run.reading.phase !== 'open' || wakeMs === Number.POSITIVE_INFINITY) return;
  run.cancelTimer = deps.clock.after(Math.max(1, Math.ceil(wakeMs - deps.clock.monoMs())), () => {
    apply(run, protocol.time(deps.clock.monoMs()));
    rearm(run);
  });
}

/** Starts to read keys; a port that is not there is tried again until it is closed. */
export function startKeyReader(deps: KeyReaderDeps): KeyReader {
  const { clock, config } = deps;
  const protocol = config.kind === 'ds2480b' ? createDs2480b() : createRfidFrames(config.kind === 'rfid');
  const run: ReaderRun = {
    deps,
    protocol,
    reading: { phase: 'opening', fault: null, portFault: null, keys: 0, rejected: 0, noise: 0 },
    port: null,
    isClosed: false,
    cancelTimer: () => undefined,
  };
  run.port = keepPort({
    ...deps,
    port: config.port,
    name: 'driver_reader',
    onOpen() {
      show(run, { phase: 'open', fault: null, portFault: null });
      apply(run, protocol.begin(clock.monoMs()));
      rearm(run);
    },
    onBytes(bytes) {
      apply(run, protocol.bytes(bytes, clock.monoMs()));
      rearm(run);
    },
    onLost(reason) {
      run.cancelTimer();
      show(run, { phase: 'waiting', fault: 'port', portFault: reason });
    },
  });
  return {
    reading: () => run.reading,
    async close() {
      run.isClosed = true;
      run.cancelTimer();
      await run.port?.close();
    },
  };
}
