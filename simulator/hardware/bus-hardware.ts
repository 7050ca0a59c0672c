// The bus of a simulated truck with the cable of its adapter, as one piece of hardware.
import type { AgentConfig } from '../../agent/config.ts';
import { createPipe, type Pipe, type PipeOptions } from './pipe.ts';
import { createTruckBus, type TruckBus, type TruckBusOptions } from './truck-bus.ts';

/** `[bus]` of a simulated truck: a USB adapter, faster than its bus. */
export const simulatedBus: NonNullable<AgentConfig['bus']> = {
  port: { path: 'simulated bus', baudRate: 1_000_000, dataBits: 8, parity: 'none', stopBits: 1 },
  bitRate: 250_000,
};

export interface BusHardware {
  readonly truck: TruckBus;
  readonly cable: Pipe;
  /** Pulls the adapter's plug, which is its supply too. */
  unplug(): void;
  /** Plugs it in again; its settings are gone. */
  plug(): void;
}

/** A bus that runs, with its adapter plugged in. */
export function createBusHardware(
  options: Omit<TruckBusOptions, 'send'> & Pick<PipeOptions, 'line'>,
): BusHardware {
  const { clock, entropy } = options;
  const cable = createPipe({
    clock,
    entropy: entropy.stream('cable'),
    line: options.line,
    onBytes: (bytes) => truck.receive(bytes),
  });
  const truck = createTruckBus({ ...options, send: (bytes) => cable.send(bytes) });
  return {
    truck,
    cable,
    unplug: () => cable.unplug(),
    plug() {
      truck.restartAdapter();
      cable.plug();
    },
  };
}
