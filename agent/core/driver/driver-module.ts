// The driver as a module of the vehicle: takes keys and the state of their reader, and names the driver in events. A driver is no evidence:
// nothing here reaches a witness or a relay.
import { Type } from 'typebox';
import type { StepContext, VehicleModule } from '../kernel/module.ts';
import { log, put, record, sensed } from '../kernel/vehicle-state.ts';
import { createDriver, type DriverInput, type DriverState, stepDriver } from './driver.ts';
import {
  type DriverReaderConfig,
  describeDriverReader,
  driverReaderOf,
  driverReaderSchema,
} from './driver-config.ts';
import { type DriverStatus, driverStatus, driverText } from './driver-status.ts';

declare module '../kernel/module-slots.ts' {
  interface ModuleStates {
    /** State of the driver; null: no reader of keys is configured. */
    readonly driver: DriverState | null;
  }
  interface ModuleMemory {
    /** Id of the driver's key; null: not known. */
    readonly driver?: string | null;
  }
  interface ModuleConfig {
    /** The reader of drivers' keys; absent: none. */
    readonly driverReader?: DriverReaderConfig;
  }
  interface ModuleEvents {
    /** A key was read, or the state of its reader changed. */
    readonly driverReader: { readonly input: Exclude<DriverInput, { kind: 'time' }> };
  }
  interface ModuleStatus {
    /** Null: no reader of keys is configured. */
    readonly driver: DriverStatus | null;
  }
}

function watchDriver(context: StepContext, input: DriverInput): void {
  const { driver, settings } = context.state;
  if (driver === null) return;
  const given = {
    nowMs: context.now.monoMs,
    ignition: sensed(context.state, 'ignition'),
    settings: settings.driver,
  };
  const step = stepDriver(driver, input, given);
  put(context, { driver: step.state });
  for (const { event, fields } of step.notes) log(context, 'info', event, fields);
  for (const draft of step.events) record(context, draft);
}

export const driverModule: VehicleModule = {
  tables: [
    {
      table: 'driverReader',
      schema: Type.Optional(driverReaderSchema),
      configOf: driverReaderOf,
      describe: describeDriverReader,
    },
  ],
  create: ({ config, memory, nowMs }) => ({
    driver: config.driverReader === undefined ? null : createDriver(memory.driver, nowMs),
  }),
  remember: ({ driver }) => (driver === null ? {} : { driver: driver.id }),
  on: { driverReader: (context, { input }) => watchDriver(context, input) },
  tick: (context) => watchDriver(context, { kind: 'time' }),
  eventAttributes({ driver }) {
    const driverUniqueId = driver?.id ?? null;
    return driverUniqueId === null ? null : { driverUniqueId };
  },
  status: ({ driver, settings }, nowMs) => ({
    driver: driver === null ? null : driverStatus(driver, { nowMs, settings: settings.driver }),
  }),
  lines: ({ driver }) => (driver === null ? [] : [{ name: 'Driver', ...driverText(driver) }]),
};
