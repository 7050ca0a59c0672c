// A simulated truck's bus behind a simulated SLCAN adapter: the frames of its control units leave in one piece each 20 ms, like
// from a USB adapter. A sleeping bus costs one timer a second.
import type { Cancel, Clock } from '../../src/ports.ts';
import type { SeededEntropy } from '../core/random.ts';
import { createSlcanAdapter } from './slcan-adapter.ts';
import { busStepMs, createTruckNodes, type TruckNodes, type TruckTruth } from './truck-nodes.ts';

export interface TruckBusOptions {
  readonly clock: Clock;
  readonly entropy: SeededEntropy;
  truth(): TruckTruth;
  /** Bytes that the adapter sends to the unit. */
  send(bytes: Uint8Array): void;
}

export interface TruckBus extends Pick<TruckNodes, 'setFaults' | 'faults' | 'odometerKm' | 'vin'> {
  /** Bytes from the unit to the adapter. */
  receive(bytes: Uint8Array): void;
  /** The adapter lost its supply and has it again: its settings are gone. */
  restartAdapter(): void;
  /** Commands that would have sent a frame to the bus: a unit must never write one. */
  transmissions(): number;
  close(): void;
}

const asleepMs = 1000;

/** A bus that runs from now on, with a CANable at 250 kbit/s that has just been plugged in. */
export function createTruckBus(options: TruckBusOptions): TruckBus {
  const { clock } = options;
  const nodes = createTruckNodes(options.entropy);
  let lines = '';
  const flush = (): void => {
    if (lines === '') return;
    const bytes = Uint8Array.from(lines, (letter) => letter.charCodeAt(0));
    lines = '';
    options.send(bytes);
  };
  const adapter = createSlcanAdapter({
    dialect: 'canable',
    send(text) {
      lines += text;
    },
  });
  let timer: Cancel | null = null;
  // Frames that a late timer missed are lost, as of a busy bus.
  const step = (): void => {
    const nowMs = Math.floor(clock.monoMs() / busStepMs) * busStepMs;
    for (const frame of nodes.step(options.truth(), nowMs)) adapter.frame(frame);
    flush();
    const waitMs = nodes.isAwake() ? busStepMs : asleepMs;
    timer = clock.after(nowMs + waitMs - clock.monoMs(), step);
  };
  step();
  return {
    receive(bytes) {
      adapter.receive(bytes);
      flush();
    },
    restartAdapter: adapter.restart,
    transmissions: () => adapter.transmissions.length,
    setFaults: nodes.setFaults,
    faults: nodes.faults,
    odometerKm: nodes.odometerKm,
    vin: nodes.vin,
    close() {
      timer?.();
    },
  };
}
