// Asks the fuel senders of the LLS protocol in turn, each once a second, and passes on what they show. It decides nothing about the tank.
import type { Cancel, Clock, Log, OpenByteLink } from '../../src/ports.ts';
import { createLls, type LlsReading, llsTiming } from '../core/fuel/lls.ts';
import type { LlsConfig } from '../core/fuel/lls-config.ts';
import { keepPort } from '../kept-port.ts';

export interface LlsReader {
  close(): Promise<void>;
}

export interface LlsReaderDeps {
  readonly config: LlsConfig;
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
  readonly log: Pick<Log, 'info' | 'warn'>;
  /** Once a second, whether or not anything was read. */
  onReading(reading: LlsReading): void;
}

/** Starts to read; a port that is not there is tried again until it is closed. */
export function startLlsReader(deps: LlsReaderDeps): LlsReader {
  const { clock, config } = deps;
  const { port, addresses } = config;
  const lls = createLls(config, clock.monoMs());
  // At most four senders, so that even at 1200 baud each has time for its answer: 108 ms on the line and 100 ms of delay.
  const everyMs = llsTiming.roundMs / addresses.length;
  let portFault: string | null = null;
  let turn = 0;
  let cancel: Cancel = () => undefined;
  const kept = keepPort({
    ...deps,
    port,
    name: 'fuel_sender',
    onOpen() {
      portFault = '';
    },
    onBytes: (bytes) => lls.bytes(bytes, clock.monoMs()),
    onLost(reason) {
      portFault = reason;
    },
  });
  const next = (): void => {
    cancel = clock.after(everyMs, next);
    if (turn === 0) deps.onReading(lls.reading(clock.monoMs(), portFault));
    kept.write(lls.ask(addresses[turn] ?? 0));
    turn = (turn + 1) % addresses.length;
  };
  next();
  return {
    async close() {
      cancel();
      await kept.close();
    },
  };
}
