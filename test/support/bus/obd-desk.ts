// A reader of a car on a virtual clock, before a simulated adapter: everything that is written, and when.
import { startObdBus } from '../../../agent/bus/obd-bus.ts';
import type { VehicleBus } from '../../../agent/bus/vehicle-bus.ts';
import type { ObdConfig } from '../../../agent/core/bus/bus-config.ts';
import type { BusReading } from '../../../agent/core/bus/bus-reading.ts';
import type { ObdPermission } from '../../../agent/core/obd/obd-permission.ts';
import { createVirtualClock, type VirtualClock } from '../../../simulator/clock.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { ByteLinkHandlers } from '../../../src/ports.ts';
import { latin1 } from '../serial/nmea-lines.ts';
import {
  type CarState,
  createCar,
  createElmAdapter,
  type ElmAdapter,
  type ElmAdapterOptions,
} from './elm-adapter.ts';

export const obdPort = {
  path: '/dev/elm',
  baudRate: 38_400,
  dataBits: 8,
  parity: 'none',
  stopBits: 1,
} as const;

export interface ObdDesk {
  readonly bus: VehicleBus;
  readonly clock: VirtualClock;
  readonly adapter: ElmAdapter;
  readonly car: CarState;
  readonly readings: BusReading[];
  readonly logged: string[];
  /** Each command with the permission of that moment. */
  readonly writes: { readonly command: string; readonly atMs: number; readonly permission: ObdPermission }[];
  permission: ObdPermission;
  /** How often the port was opened. */
  opens(): number;
  pass(ms: number): Promise<void>;
  unplug(): void;
  plug(): void;
  send(text: string): void;
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A desk whose ignition is on. @param delayMs how long the adapter takes for an answer. */
export function obdDesk(
  options: Partial<ElmAdapterOptions> & {
    readonly car?: never;
    readonly given?: Partial<CarState>;
    readonly config?: Partial<ObdConfig>;
    readonly permission?: ObdPermission;
    readonly delayMs?: number;
  } = {},
): ObdDesk {
  const { given, config, permission = 'granted', delayMs = 30, ...elm } = options;
  const clock = createVirtualClock(0);
  const { state, car } = createCar(given);
  let handlers: ByteLinkHandlers | null = null;
  let isThere = true;
  let opens = 0;
  const send = (text: string): void => handlers?.onBytes(latin1(text));
  const adapter = createElmAdapter({
    kind: 'elm327',
    ...elm,
    car,
    send: (text) => void clock.after(delayMs, () => send(text)),
  });
  const desk = {
    clock,
    adapter,
    car: state,
    readings: [] as BusReading[],
    logged: [] as string[],
    writes: [] as ObdDesk['writes'][number][],
    permission,
    opens: () => opens,
    async pass(ms: number) {
      for (let passedMs = 0; passedMs < ms; passedMs += 25) {
        await turn();
        clock.advance(25);
      }
      await turn();
    },
    unplug() {
      isThere = false;
      adapter.restart();
      handlers?.onDown('the device hung up');
      handlers = null;
    },
    plug() {
      isThere = true;
    },
    send,
  };
  const record = (event: string): void => void desk.logged.push(event);
  const bus = startObdBus({
    config: { port: obdPort, hasConsent: true, ...config },
    clock,
    log: { info: record, warn: record },
    permission: () => desk.permission,
    onReading: (reading) => void desk.readings.push(reading),
    async openByteLink(_settings, taken) {
      if (!isThere) throw new AppError('serial', 'no such port');
      opens += 1;
      handlers = taken;
      return {
        write(bytes) {
          const command = String.fromCharCode(...bytes).replace('\r', '');
          desk.writes.push({ command, atMs: clock.monoMs(), permission: desk.permission });
          adapter.receive(bytes);
          return true;
        },
        async close() {
          if (handlers === taken) handlers = null;
        },
      };
    },
  });
  return Object.assign(desk, { bus });
}
