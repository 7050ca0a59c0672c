// Keeps a serial port open: one that is not there, or was lost, is tried again for ever; why is logged once. Callbacks of replaced links
// are ignored. It decides nothing.
import { messageOf } from '../src/core/errors.ts';
import type { ByteLink, Cancel, Clock, Log, OpenByteLink, SerialSettings } from '../src/ports.ts';

/** A port that is not there is looked for this often, ms. */
const retryMs = 1000;

export interface KeptPort {
  /** Nothing is sent while the port is not open. */
  write(bytes: Uint8Array): void;
  close(): Promise<void>;
}

export interface KeptPortDeps {
  readonly port: SerialSettings;
  /** Begins its log events: `<name>_open`, `<name>_lost`. */
  readonly name: string;
  readonly clock: Clock;
  readonly openByteLink: OpenByteLink;
  readonly log: Pick<Log, 'info' | 'warn'>;
  onOpen(): void;
  onBytes(bytes: Uint8Array): void;
  /** It could not be opened, or was lost; again for each try. */
  onLost(reason: string): void;
}

/** Opens it at once. */
export function keepPort({ port, name, clock, openByteLink, log, ...handlers }: KeptPortDeps): KeptPort {
  let link: ByteLink | null = null;
  let generation = 0;
  let isClosed = false;
  let reported = '';
  let cancelRetry: Cancel = () => undefined;
  const lose = (reason: string): void => {
    generation += 1;
    link = null;
    if (reported !== reason) log.warn(`${name}_lost`, { port: port.path, reason });
    reported = reason;
    handlers.onLost(reason);
    cancelRetry = clock.after(retryMs, () => void open());
  };
  const open = async (): Promise<void> => {
    generation += 1;
    const own = generation;
    const isCurrent = (): boolean => own === generation && !isClosed;
    try {
      const opened = await openByteLink(port, {
        onBytes(bytes) {
          // Bytes from before the opening ended are of a frame whose beginning is not known.
          if (isCurrent() && link !== null) handlers.onBytes(bytes);
        },
        onDown(reason) {
          if (isCurrent()) lose(reason);
        },
      });
      if (!isCurrent()) return void opened.close();
      link = opened;
      reported = '';
      log.info(`${name}_open`, { port: port.path });
      handlers.onOpen();
    } catch (thrown) {
      if (isCurrent()) lose(messageOf(thrown));
    }
  };
  void open();
  return {
    write: (bytes) => void link?.write(bytes),
    async close() {
      isClosed = true;
      cancelRetry();
      await link?.close();
      link = null;
    },
  };
}
