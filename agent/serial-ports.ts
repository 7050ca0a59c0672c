// The two serial ports of a vehicle: opened, closed and written as the loop orders. Decides nothing; `core/serial-
// port-state.ts` decides when to reopen. Data of an abandoned link is never passed on, and no byte is kept for later.

import { hintFrom, messageOf } from '../src/core/errors.ts';
import type { ByteLink, Log, OpenByteLink } from '../src/ports.ts';
import type { AgentConfig } from './config.ts';
import type { VehicleEvent } from './core/kernel/vehicle-events.ts';
import { type PortName } from './core/kernel/vehicle-types.ts';

interface SerialPorts {
  open(port: PortName): void;
  close(port: PortName): void;
  write(port: PortName, bytes: Uint8Array): void;
  closeAll(): void;
}

/** Serial links by generation: callbacks of replaced links are ignored. */
export function createSerialPorts(
  config: AgentConfig,
  ports: { readonly openByteLink: OpenByteLink; readonly log: Log },
  dispatch: (event: VehicleEvent) => void,
): SerialPorts {
  const links: Record<PortName, { generation: number; link: ByteLink | null }> = {
    board: { generation: 0, link: null },
    gnss: { generation: 0, link: null },
  };
  // Opening is retried for ever; the reason is logged once.
  const reportedReasons: Record<PortName, string> = { board: '', gnss: '' };
  const drop = (port: PortName): void => {
    const slot = links[port];
    slot.generation += 1;
    void slot.link?.close();
    slot.link = null;
  };
  const open = async (port: PortName): Promise<void> => {
    drop(port);
    const slot = links[port];
    const generation = slot.generation;
    const isCurrent = (): boolean => links[port].generation === generation;
    const settings = port === 'board' ? config.boardPort : config.gnssPort;
    try {
      const link = await ports.openByteLink(settings, {
        onBytes: (bytes) => isCurrent() && dispatch({ kind: 'bytes', port, bytes }),
        onDown: (reason) => {
          if (!isCurrent()) return;
          drop(port);
          dispatch({ kind: 'down', port, reason });
        },
      });
      if (!isCurrent()) return void link.close();
      slot.link = link;
      reportedReasons[port] = '';
      dispatch({ kind: 'opened', port });
    } catch (thrown) {
      if (!isCurrent()) return;
      const hint = hintFrom(thrown);
      const reason = messageOf(thrown);
      if (reportedReasons[port] !== reason) ports.log.warn('port_open_failed', { port, reason, hint });
      reportedReasons[port] = reason;
      dispatch({ kind: 'failed', port, reason });
    }
  };
  return {
    open: (port) => void open(port),
    close: drop,
    // A false answer is a link that is going down; the master's time-out deals with it.
    write: (port, bytes) => void links[port].link?.write(bytes),
    closeAll() {
      drop('board');
      drop('gnss');
    },
  };
}
